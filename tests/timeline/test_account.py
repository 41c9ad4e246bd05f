"""The account: what happens between the calls of a compiled callable, in the order in which it happens."""

from __future__ import annotations

import pytest
from lintkit import PRELUDE, Project

SCALED = """
@torch.compile
def scaled(x, k: int):
    return x.sum(k)
"""


def said(project: Project, source: str, code: str, **overrides: object) -> list[str]:
    """The messages of one rule about a program."""
    project.write({"train.py": PRELUDE + "\n\n" + source})
    return [f.message for f in project.lint("train.py", select=[code], **overrides).findings]


# --- loops, turn by turn ----------------------------------------------------------------------------------------------

SEQUENCES = {
    "a literal": "for k in (0, 1, 2):",
    "a range": "for k in range(3):",
    "a range of unknown length": "for k in range(count):",
    "enumerate over what nobody knows": "for k, _ in enumerate(loader):",
    "zip": "for k, _ in zip([0, 1, 2], [3, 4, 5]):",
    "a comprehension": "for k in [n * 1 for n in range(3)]:",
    "a dict": "for k in {0: 'a', 1: 'b', 2: 'c'}:",
    "items of a dict": "for k, _ in {0: 'a', 1: 'b', 2: 'c'}.items():",
    "a list of the program": "for k in listed():",
    "a generator of the program": "for k in generated():",
}


@pytest.mark.parametrize("header", SEQUENCES.values(), ids=SEQUENCES)
def test_what_a_loop_passes_is_evidence(project: Project, header: str) -> None:
    source = f"""{SCALED}
def listed():
    found = []
    for n in range(3):
        found.append(n)
    return found

def generated():
    for n in range(3):
        yield n

def main(x, count, loader):
    {header}
        scaled(x, k)
"""
    (message,) = said(project, source, "TCL205")
    assert "with k = 0, 1, 2" in message
    assert "called at train.py:" in message


SAME = {
    "a constant": "scaled(x, 1)",
    "what nobody knows": "scaled(x, k)",
    "what is read once": "scaled(x, size)",
    "two values": "scaled(x, 1 if flag else 0)",
}


@pytest.mark.parametrize("call", SAME.values(), ids=SAME)
def test_unknown_is_not_varies(project: Project, call: str) -> None:
    source = f"""{SCALED}
def main(x, k, flag, loader):
    size = int(os.environ["SIZE"])
    for _ in loader:
        {call}
"""
    assert said(project, source, "TCL205") == []


def test_a_while_loop_counts(project: Project) -> None:
    source = f"""{SCALED}
def main(x, done):
    k = 0
    while not done():
        scaled(x, k)
        k += 1
"""
    (message,) = said(project, source, "TCL205")
    assert "k = 0, 1, 2" in message


def test_random_numbers_vary(project: Project) -> None:
    source = f"""{SCALED}
def main(x):
    for _ in range(10):
        scaled(x, random.randint(0, 2))
"""
    (message,) = said(project, source, "TCL205")
    assert "a random number" in message


def test_walks_are_processes_of_their_own(project: Project) -> None:
    source = f"""{SCALED}
def test_first(x):
    scaled(x, 0)

def test_second(x):
    scaled(x, 1)

def test_third(x):
    scaled(x, 2)
"""
    assert said(project, source, "TCL205") == []


def test_suspicions_are_shown_on_demand(project: Project) -> None:
    assert said(project, SCALED, "TCL205") == []
    assert len(said(project, SCALED, "TCL205", min_confidence="low")) == 1


# --- what is written between calls ------------------------------------------------------------------------------------

STEPS = """
STEPS = 1

@torch.compile
def f(x):
    return x * STEPS
"""


def test_set_up_is_no_change(project: Project) -> None:
    source = f"""{STEPS}
def configure(n):
    global STEPS
    STEPS = n

def main(x):
    configure(4)
    for _ in range(10):
        f(x)
"""
    assert said(project, source, "TCL203") == []


def test_a_write_between_calls_is_one(project: Project) -> None:
    source = f"""{STEPS}
def configure(n):
    global STEPS
    STEPS = n

def main(x):
    for n in (4, 5, 6):
        configure(n)
        f(x)
"""
    (message,) = said(project, source, "TCL203")
    line = PRELUDE.count("\n") + 12
    assert f"written at train.py:{line} between the calls at train.py:{line + 5}: 4, 5, 6" in message


def test_what_is_counted_up_needs_no_numbers(project: Project) -> None:
    source = f"""{STEPS}
def main(x, loader):
    global STEPS
    for _ in loader:
        f(x)
        STEPS += 1
"""
    (message,) = said(project, source, "TCL203")
    assert "counted up" in message


def test_a_value_that_nobody_knows_is_no_change(project: Project) -> None:
    source = f"""{STEPS}
def main(x, loader, schedule):
    global STEPS
    for batch in loader:
        STEPS = schedule(batch)
        f(x)
"""
    assert said(project, source, "TCL203") == []


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 4

    def forward(self, x):
        return x * self.width
"""


def test_attributes_before_and_between_calls(project: Project) -> None:
    before = f"""{NET}
def main(x):
    net = Net()
    for width in (1, 2, 3):
        net.width = width
    step = torch.compile(net)
    for _ in range(5):
        step(x)
"""
    assert said(project, before, "TCL212") == []
    between = f"""{NET}
def main(x):
    net = Net()
    step = torch.compile(net)
    for width in (1, 2, 3):
        net.width = width
        step(x)
"""
    (message,) = said(project, between, "TCL212")
    assert "1, 2, 3" in message


def test_attributes_of_other_objects_become_dynamic(project: Project) -> None:
    source = """
class Settings:
    def __init__(self):
        self.width = 4

@torch.compile
def f(x, settings):
    return x * settings.width

def main(x):
    settings = Settings()
    for width in (1, 2, 3):
        settings.width = width
        f(x, settings)
"""
    assert said(project, source, "TCL212") == []


def test_resets_before_and_between_calls(project: Project) -> None:
    source = """
@torch.compile
def f(x):
    return x.relu()

def main(x):
    torch.compiler.reset()
    for _ in range(5):
        f(x)
"""
    assert said(project, source, "TCL214") == []
    inside = source.replace(
        "    torch.compiler.reset()\n    for _ in range(5):\n",
        "    for _ in range(5):\n        torch.compiler.reset()\n",
    )
    assert len(said(project, inside, "TCL214")) == 1
    measured = """
def f(x):
    return x.relu()

def main(x):
    for backend in ("eager", "aot_eager", "inductor"):
        torch.compiler.reset()
        g = torch.compile(f, backend=backend)
        g(x)
"""
    assert said(project, measured, "TCL214") == []
    kept = measured.replace(
        "        g(x)\n", "        for _ in range(3):\n            torch.compiler.reset()\n            g(x)\n"
    )
    assert len(said(project, kept, "TCL214")) == 1


def test_what_is_compiled_on_one_object_is_not_on_another(project: Project) -> None:
    source = """
class Model(nn.Module):
    def forward(self, x):
        return self.core(x)

    def core(self, x):
        return x.relu()

def fast(x):
    model = Model()
    model.core = torch.compile(model.core, mode="reduce-overhead")
    return model(x)

@torch.no_grad()
def main(x):
    model = MADE
    kept = []
    for _ in range(4):
        kept.append(model(x))
    return kept

if __name__ == "__main__":
    fast(torch.randn(2, 2))
    main(torch.randn(2, 2))
"""
    assert said(project, source.replace("MADE", "Model()"), "TCL301") == []
    handed = source.replace("return model(x)", "return model").replace("MADE", "fast(x)")
    assert said(project, handed, "TCL301")


def test_layers_that_are_alike(project: Project) -> None:
    source = """
class Block(nn.Module):
    def __init__(self, config, index):
        super().__init__()
        self.n_head = config.n_head
        self.index = index

    def forward(self, x):
        return x * self.NAME

def main(config, x):
    blocks = [Block(config, i) for i in range(config.layers)]
    for i in range(len(blocks)):
        blocks[i] = torch.compile(blocks[i])
    for block in blocks:
        x = block(x)
"""
    assert said(project, source.replace("NAME", "n_head"), "TCL202") == []
    (message,) = said(project, source.replace("NAME", "index"), "TCL202")
    assert "index = 0, 1, 2" in message


def test_a_dict_that_compiled_code_writes_to(project: Project) -> None:
    """Under torch 2.13 six calls make six programs, and two where the key is the same each time."""
    source = """
@torch.compile
def f(x, state):
    state[KEY] = x * 2
    return x + 1

def main():
    state = {}
    for _ in range(6):
        f(torch.randn(3), state)

main()
"""
    assert len(said(project, source.replace("KEY", "len(state)"), "TCL206")) == 1
    assert said(project, source.replace("KEY", "'last'"), "TCL206") == []


def test_one_flag_of_one_of_several_objects(project: Project) -> None:
    """What a helper is given may be one of two; that both are told the same at other moments makes no more modes."""
    source = """
class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x)

class Two(One):
    pass

def main(x, flag, given: nn.Module):
    net = One() if flag else Two()
    fast = torch.compile(net)
    given.eval()
    fast(x)
    net.eval()
    given.train()
    fast(x)
    net.train()
    fast(x)
    given.eval()
    fast(x)
"""
    assert said(project, source, "TCL214") == []


def test_a_helper_under_another_context_is_another_call(project: Project) -> None:
    source = f"""{NET}
def run(step, x):
    step(x)

def main(x):
    step = torch.compile(Net())
    run(step, x)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):
            run(step, x)
"""
    assert len(said(project, source, "TCL214")) == 1
