"""The top level of a text: what it names is what the parser finds in the whole."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.program import Import, Program
from tclint.program.index import index_of
from tclint.sources.outline import outline

ROOT = Path(__file__).resolve().parents[2]

SAME = {
    "function": b"import a\ndef f(x):\n    import b\n\n    return x\nimport c\n",
    "name taken back": b"import a\ndef a(): pass\nimport b\nclass b: import c\n",
    "brackets at the margin": b"@wrap(\n    1,\n)\ndef f(\n    x,\n) -> int:\n    import b\nimport c\n",
    "comments at the margin": b"def f():\n    x = 1\n# a word\n    import b\nimport c\n",
    "async": b"async def f():\n    import b\nimport c\n",
    "arms": b"try:\n    import a\nexcept ImportError:\n    a = None\nif x:\n    def f():\n        import b\nelse:\n    import f\n",
    "docstring": b'"""\ndef f():\n    import b\n"""\nimport c\n',
    "end of the file": b"import c\nclass A:\n    import b",
    "windows": b"import a\r\ndef f():\r\n    import b\r\n\r\nimport c\r\n",
    "other letters": "import fé\ndef fé():\n    pass\nimport c\n".encode(),
    "stars": b"from a import *\ndef f():\n    pass\nfrom .b import *\n",
    "dot": b"@a.\\\nb\ndef f():\n    pass\nimport c\n",
}
ONLY_PARSED = {
    "text at the margin": b'def f():\n    """\nimport a\n    """\nimport b\n',
    "other quotes": b"def f():\n    x = '''\nimport a\n'''\n",
    "old macintosh": b"import a\rdef f():\r    import b\rimport c\r",
}


def named(data: bytes) -> tuple[object, ...]:
    module = Program.build([("m.py", "/p/m.py", data, True)]).modules[0]
    index, _ = index_of(module, ast.parse(data))
    imported = {name: (f.target, f.attribute) for name, f in index.names.items() if isinstance(f, Import)}
    return (list(index.names), imported, index.stars)


@pytest.mark.parametrize("data", SAME.values(), ids=list(SAME))
def test_names_are_those_of_the_whole(data: bytes) -> None:
    found = outline(data)
    assert found is not None
    assert named(found) == named(data)


@pytest.mark.parametrize("data", ONLY_PARSED.values(), ids=list(ONLY_PARSED))
def test_what_only_a_parser_can_tell_is_left_to_it(data: bytes) -> None:
    assert outline(data) is None


def test_what_is_held_is_gone() -> None:
    assert outline(b"@x\nclass A(\n    B\n):\n    y = 1\nz = 2\n") == b"def A(): ...\nz = 2\n"


def test_our_own_files() -> None:
    paths = [*ROOT.glob("tclint/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("fixtures/rules/TCL1*/*.py")]
    outlined = 0
    for path in paths:
        data = path.read_bytes()
        found = outline(data)
        if found is None:
            continue
        try:
            whole = named(data)
            short = named(found)
        except SyntaxError:
            continue
        assert short == whole, path
        outlined += 1
    assert outlined > 0.9 * len(paths)
