"""Which module an import means, and under which dotted name a file is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from lintkit import Project

from tclint.program import Import, Module, Program, absolute_name, reads


def build(*paths: str, **sources: bytes) -> Program:
    return Program.build([(path, f"/p/{path}", sources.get(path, b""), True) for path in paths])


def module(program: Program, path: str) -> Module:
    return next(each for each in program.modules if each.path == path)


PACKAGE = ("pkg/__init__.py", "pkg/logging.py", "pkg/sub/__init__.py", "pkg/sub/leaf.py", "train.py", "tools/run.py")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("pkg/__init__.py", "pkg"),
        ("pkg/logging.py", "pkg.logging"),
        ("pkg/sub/leaf.py", "pkg.sub.leaf"),
        ("train.py", "train"),
        ("tools/run.py", "run"),  # no package: its folder is on sys.path
    ],
)
def test_dotted_names(path: str, name: str) -> None:
    assert module(build(*PACKAGE), path).name == name


@pytest.mark.parametrize(
    ("importer", "dotted", "found"),
    [
        ("train.py", "pkg.sub.leaf", "pkg/sub/leaf.py"),
        ("train.py", "pkg", "pkg/__init__.py"),
        ("pkg/sub/leaf.py", "pkg.logging", "pkg/logging.py"),
        # The standard library's, not the package's own.
        ("pkg/sub/leaf.py", "logging", None),
        ("tools/run.py", "pkg.sub", "pkg/sub/__init__.py"),
        ("train.py", "torch", None),
    ],
)
def test_imports_are_found(importer: str, dotted: str, found: str | None) -> None:
    program = build(*PACKAGE)
    target = program.find(module(program, importer), dotted)
    assert (target.path if target is not None else None) == found


@pytest.mark.parametrize(
    ("importer", "dotted", "found"),
    [
        ("net/model.py", "net.layers", "net/layers.py"),
        ("net/model.py", "net", "net/__init__.py"),
        ("train.py", "net.layers", "net/layers.py"),
        # A library of the name of a file: only within a package is one word surely its own.
        ("train.py", "transformers", None),
        ("net/model.py", "transformers", None),
        ("train.py", "logging.handlers", None),
        # Nor is it within a package, where torch means torch.
        ("torch/layer.py", "torch", None),
        ("torch/layer.py", "net.layers", "net/layers.py"),
    ],
)
def test_a_package_around_the_whole_program_changes_no_import(importer: str, dotted: str, found: str | None) -> None:
    files = ("net/__init__.py", "net/model.py", "net/layers.py", "train.py", "transformers.py", "logging/handlers.py")
    program = build("__init__.py", "torch/__init__.py", "torch/layer.py", *files)
    target = program.find(module(program, importer), dotted)
    assert (target.path if target is not None else None) == found


def test_the_closest_of_two_projects_is_meant() -> None:
    program = build("a/utils.py", "a/train.py", "b/utils.py", "b/train.py")
    for folder in "ab":
        found = program.find(module(program, f"{folder}/train.py"), "utils")
        assert found is not None
        assert found.path == f"{folder}/utils.py"
    assert set(program.paths) == {module.path for module in program.modules}


@pytest.mark.parametrize(
    ("target", "level", "name"),
    [("torch", 0, "torch"), ("leaf", 1, "pkg.sub.leaf"), (None, 1, "pkg.sub"), ("logging", 2, "pkg.logging")],
)
def test_relative_imports(target: str | None, level: int, name: str) -> None:
    assert absolute_name(module(build(*PACKAGE), "pkg/sub/leaf.py"), target, level) == name


def test_imports_of_a_file() -> None:
    text = b"import a.b\nimport a.c as c\nfrom .sibling import x as y\nfrom pkg import *\n"
    program = Program.build(
        [("pkg/__init__.py", "/p/pkg/__init__.py", b"", True), ("pkg/m.py", "/p/pkg/m.py", text, True)]
    )
    found = module(program, "pkg/m.py")
    shown = {name: (d.target, d.attribute) for name, d in found.names.items() if isinstance(d, Import)}
    assert shown == {"a": ("a", ""), "c": ("a.c", ""), "y": ("pkg.sibling", "x")}
    assert found.stars == ["pkg"]


def test_what_was_touched_is_known() -> None:
    program = build("a.py", "b.py")
    with program.watched() as outer:
        with program.watched() as inner:
            module(program, "a.py").names  # noqa: B018
        module(program, "b.py").names  # noqa: B018
    assert {path for path, _ in reads(inner)} == {"a.py"}
    assert {path for path, _ in reads(outer)} == {"a.py", "b.py"}


def test_who_makes_room_in_memory_touches_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that is dropped for another is not read from: in a large program everybody would depend on anybody."""
    monkeypatch.setattr("tclint.program.program._KEPT_LINES", 2)
    program = build("a.py", "b.py", "c.py")
    module(program, "a.py").names  # noqa: B018
    with program.watched() as touched:
        module(program, "b.py").names  # noqa: B018
        module(program, "c.py").names  # noqa: B018
    assert module(program, "a.py")._tree is None
    assert {path for path, _ in reads(touched)} == {"b.py", "c.py"}


def test_an_import_starts_from_the_roots_too() -> None:
    paths = ("src/pkg/__init__.py", "src/pkg/model.py", "scripts/train.py")
    program = Program.build([(path, f"/p/{path}", b"", True) for path in paths], ["/p/src"])
    found = program.find(module(program, "scripts/train.py"), "pkg.model")
    assert found is module(program, "src/pkg/model.py")


def test_of_two_roots_the_closer_one() -> None:
    paths = ("a/src/util.py", "b/src/util.py", "b/scripts/train.py", "train.py")
    program = Program.build([(path, f"/p/{path}", b"", True) for path in paths], ["/p/a/src", "/p/b/src"])
    assert program.find(module(program, "b/scripts/train.py"), "util") is module(program, "b/src/util.py")
    assert program.find(module(program, "train.py"), "util") is None  # nobody knows which one is installed


def test_a_package_that_is_a_root_says_nothing_of_what_lies_beside_it() -> None:
    paths = ("a/lib/__init__.py", "a/lib/net.py", "a/utils.py", "b/train.py")
    program = Program.build([(path, f"/p/{path}", b"", True) for path in paths], ["/p/a/lib"])
    train = module(program, "b/train.py")
    assert program.find(train, "lib.net") is module(program, "a/lib/net.py")
    assert program.find(train, "utils") is None


@pytest.mark.parametrize(("said", "found"), [(b"import sys; sys.path.append(HERE)", "pkg/utils.py"), (b"", None)])
def test_a_package_that_puts_its_folder_on_the_path(said: bytes, found: str | None) -> None:
    """`import utils` means a neighbour there alone, and whoever asks depends on who said so."""
    paths = ("pkg/__init__.py", "pkg/utils.py", "pkg/sub/__init__.py", "pkg/sub/leaf.py", "other.py")
    program = build(*paths, **{"pkg/__init__.py": said})
    for _ in range(2):
        with program.watched() as touched:
            meant = program.find(module(program, "pkg/sub/leaf.py"), "utils")
        assert (meant.path if meant is not None else None) == found
        assert module(program, "pkg/__init__.py") in touched
    assert program.find(module(program, "pkg/utils.py"), "utils") is None
    assert program.find(module(program, "other.py"), "utils") is None


def test_two_projects_with_modules_of_the_same_name(tmp_path: Path) -> None:
    """`model` of one folder is not `model` of another: each site reaches its own, from the root as from the folder."""
    model = """
        import torch
        from torch import nn

        class Args:
            depth: int = 2

        class Block(nn.Module):
            def __init__(self, config: Args):
                super().__init__()

            def forward(self, x):
                {hazard}
                return x

        class Net(nn.Module):
            def __init__(self, config: Args):
                super().__init__()
                self.blocks = nn.ModuleList(Block(config) for _ in range(config.depth))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
    """
    run = """
        import torch
        from model import Net

        def step(model: Net, x: torch.Tensor):
            return model(x)

        fast = torch.compile(step)
    """
    project = Project(tmp_path).write(
        {
            "model.py": model.replace("{hazard}", "x = x + 1"),
            "run.py": run,
            "other-one/model.py": model.replace("{hazard}", "print(x)"),
            "other-one/run.py": run,
        }
    )
    below = Project(tmp_path / "other-one")
    assert project.places(select=["TCL108"], assume_compiled="never") == ["other-one/model.py:12 TCL108"]
    assert below.places(select=["TCL108"], assume_compiled="never") == ["model.py:12 TCL108"]
    here, there = project.lint(select=["TCL108"]).sites, below.lint(select=["TCL108"]).sites
    assert [site.reaches for site in here if site.path.startswith("other")] == [site.reaches for site in there]


def test_values_of_two_files_with_the_same_dotted_name_differ() -> None:
    """What is learned about an object is kept by the key of its class: two files called model.py are two modules."""
    from tclint.values import ClassValue, FunctionValue, Instance

    text = b"class Net:\n    def forward(self, x):\n        return x\n"
    files = [(f"{folder}/model.py", f"/r/{folder}/model.py", text, True) for folder in ("one", "other-one")]
    one, other = Program.build(files).modules
    assert one.name == other.name == "model"
    for make in (
        lambda module: ClassValue(module.classes[0]),
        lambda module: Instance(module.classes[0]),
        lambda module: FunctionValue(module.functions[0]),
    ):
        assert make(one).key == make(one).key
        assert make(one).key != make(other).key
