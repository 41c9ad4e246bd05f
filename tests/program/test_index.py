"""The index of a file, and nodes that come back after their tree was dropped."""

from __future__ import annotations

import ast

import pytest

from tclint.program import Assignment, Class, Function, Import, Module, Program

TEXT = b'''\
import torch
try:
    import fast
except ImportError:
    fast = None

a, (b, c) = 1, (2, 3)
limit: int = 4
later: int


def top(x):
    """Doc."""
    y = x
    return [y for y in z]


class Outer:
    size = 3

    @property
    def width(self):
        return self._width

    @width.setter
    def width(self, value):
        self._width = value

    class Inner:
        def go(self):
            return 1


if True:
    def guarded():
        global counter
        counter = 1
'''


@pytest.fixture
def module() -> Module:
    return Program.build([("m.py", "/p/m.py", TEXT, True)]).modules[0]


def test_nothing_is_parsed_until_a_name_is_asked_for(module: Module) -> None:
    assert not module.indexed
    assert "top" in module.names
    assert module.indexed


def test_names(module: Module) -> None:
    kinds = {name: type(definition) for name, definition in module.names.items()}
    assert kinds == {
        "torch": Import,
        "fast": Import,  # and not the None it is without
        "a": Assignment,
        "b": Assignment,
        "c": Assignment,
        "limit": Assignment,
        "later": Assignment,
        "top": Function,
        "Outer": Class,
        "guarded": Function,
    }
    paths = {n: d.path for n, d in module.names.items() if isinstance(d, Assignment)}
    assert paths == {"a": (0,), "b": (1, 0), "c": (1, 1), "limit": (), "later": ()}
    assert [n for n, d in module.names.items() if isinstance(d, Assignment) and d.annotation] == ["later"]


def test_classes_and_functions(module: Module) -> None:
    assert [cls.qualname for cls in module.classes] == ["Outer", "Outer.Inner"]
    assert [f.qualname for f in module.functions] == [
        "top",
        "Outer.width",
        "Outer.width",
        "Outer.Inner.go",
        "guarded",
    ]
    outer = module.classes[0]
    assert outer.methods["width"].line == 22, "the getter: a setter replaces nothing that a reader sees"
    assert list(outer.assignments) == ["size"]


def test_nodes_come_back_with_their_places(module: Module) -> None:
    before = {f.qualname: ast.dump(f.node, include_attributes=True) for f in module.functions}
    for function in module.functions:
        function.forget()
    module.forget()
    after = {f.qualname: ast.dump(f.node, include_attributes=True) for f in module.functions}
    assert after == before
    assert module.classes[1].node.name == "Inner"


def test_lines_and_text(module: Module) -> None:
    top = module.functions[0]
    assert top.lines == (12, 15)
    assert module.text_of(*top.lines).startswith(b"def top(x):")
    assert module.text_of(*top.lines).endswith(b"for y in z]\n")


def test_names_read_and_stored(module: Module) -> None:
    top = module.functions[0]
    assert top.free_names() == {"x", "y", "z"}
    assert top.stored_names() == {"y"}
    assert module.rebinds("counter")
    assert not module.rebinds("limit")


def test_a_file_that_cannot_be_parsed_defines_nothing_and_says_why() -> None:
    module = Program.build([("m.py", "/p/m.py", b"def f(:\n", True)]).modules[0]
    assert module.names == {}
    assert module.problem is not None
    assert (module.problem.code, module.problem.line) == ("TCL903", 1)


@pytest.mark.parametrize(
    "text",
    [
        "if HAS_TORCH:\n    from torch.nn import Module\nelse:\n    from stand_in import Dummy as Module\n",
        "try:\n    from fast import Module\nexcept ImportError:\n    from torch.nn import Module\n",
        "try:\n    from torch.nn import Module\nexcept ImportError:\n    class Module: ...\n",
        "if A:\n    from slow import Module\nelif B:\n    from torch.nn import Module\nelse:\n    from none import Module\n",
    ],
)
def test_of_bindings_in_several_arms_the_one_from_torch_is_meant(text: str) -> None:
    bound = Program.build([("m.py", "/p/m.py", text.encode(), True)]).modules[0].names["Module"]
    assert isinstance(bound, Import)
    assert (bound.target, bound.attribute) == ("torch.nn", "Module")


def test_a_later_import_replaces_that_from_torch() -> None:
    text = b"from torch.nn import Linear\nfrom layers import Linear\nif A:\n    from torch.nn import LayerNorm\nfrom layers import LayerNorm\n"
    names = Program.build([("m.py", "/p/m.py", text, True)]).modules[0].names
    assert [names[n].target for n in ("Linear", "LayerNorm") if isinstance(names[n], Import)] == ["layers", "layers"]  # type: ignore[union-attr]
