"""What of a file counts for a result that was read from some of it."""

from __future__ import annotations

import ast

import pytest

from tclint.program import Module, Program, reads

FILE = '''"""A file.
# in a text
"""
import os
# note
X = 1

if X:
    def early(x):
        return x
    Y = 2

class A(object):
    z = 1

    @property
    def f(self):
        return X

    def g(self):
        return lambda: 2
'''


def built(text: str, other: str = "") -> Module:
    files = [("a.py", "/p/a.py", text.encode(), True), ("b.py", "/p/b.py", other.encode(), True)]
    return Program.build(files).modules[0]


def mentions(module: Module) -> frozenset[str]:
    return frozenset(word for word in ("note", "lambda") if word.encode() in module.data)


def beside(module: Module) -> int:
    return len(module.program.modules[1].names)


def read(module: Module, how: str) -> object:
    with module.program.watched() as touched:
        for _ in range(2):  # what is kept for others counts for them, too
            if how == "names":
                module.names  # noqa: B018
            elif how == "whole":
                module.data  # noqa: B018
            elif how == "fact":
                module.index(mentions)
            elif how == "beside":
                module.index(beside)
            elif how in ("X", "added", "os"):
                module.named(how)
            elif how == "A":
                module.class_at("A").methods  # noqa: B018
            else:
                (function,) = (each for each in module.indexed_again().functions if each.name == how.rstrip("@"))
                function.free_names()
                function.index(lambda each: each.node.lineno)
                if how.endswith("@"):
                    module.program.names_lines(["a.py"])
            found = reads(touched)
            touched.clear()
    return found


HOWS = ("whole", "names", "X", "added", "os", "A", "f", "f@", "g", "g@", "early", "fact")
EVERY = "whole names X added os A f g early fact f@ g@"


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("# note", "# other", "whole fact"),
        ("    z = 1", "    z = 2", "whole names A f f@ g g@"),
        ("# in a text", "# in another", "whole names"),
        ("@property", "@staticmethod", "whole names A f f@ g g@"),
        ("import os", "import os\n", "whole f@ g@"),
        ("# note", "def added(): ...", "whole names added fact"),
        ("# note", "import sys", "whole names fact"),
        ("# note", "REGISTRY['a'] = 1", EVERY),
        ("import os", "from os import *", EVERY),
        ("import os\n# note\nX = 1", "X = 1\n# note\nimport os", "whole names"),
        ("X = 1\n\nif X:", "if X:", "whole names X f@ g@"),
        ("    Y = 2", "    Y = 3", EVERY),
        ("        return X", "        return 5", "whole f f@"),
        ("        return X", "        global X", EVERY),
        ("        return x", "        return 0", "whole early"),
        ("early(x)", "late(x)", EVERY),
        ("lambda: 2", "lambda: 3", "whole g g@"),
        ("return lambda: 2", "return None", "whole g g@ fact"),
        ("return lambda: 2\n", "return lambda: 2\n\n# the end\n", "whole"),
        ("return lambda: 2\n", "return lambda: 2\n        return 3\n", "whole g g@"),
        ("        return X", "        return X\n        # more", "whole g@"),
        ("return lambda: 2\n", "return lambda: 2\n\nclass B: ...\n", "whole names"),
        ("return lambda: 2\n", "return lambda: 2\n    def h(self): ...\n", "whole names A f f@ g g@"),
        ("def g(self)", "def other(self)", "whole names A f f@ g g@"),
        ("class A(object):", "class A(object:", EVERY),
    ],
)
def test_an_edit_counts_for_whoever_read_what_it_changed(old: str, new: str, counts: str) -> None:
    assert FILE.count(old) == 1
    changed = FILE.replace(old, new)
    for how in HOWS:
        if f"def {how.rstrip('@')}(" in FILE and f"def {how.rstrip('@')}(" not in changed:
            continue  # it is gone
        before, after = read(built(FILE), how), read(built(changed), how) if "object:" not in new else None
        # Of the whole no more is noted than that: its content is compared.
        assert (before != after or how == "whole") == (f" {how} " in f" {counts} "), how


def firsts(module: Module) -> dict[str, ast.expr]:
    bound = (each for each in module.tree.body if isinstance(each, ast.Assign))
    return {ast.unparse(each.targets[0]): each.value for each in bound}


VALUES = "import os\nX = [1,\n     2]\n\n\ndef f():\n    return X\n"


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        (f"# a note\n{VALUES}", "placed"),
        (VALUES.replace("\ndef f", "\n# a note\ndef f"), "placed"),
        (f"{VALUES}\n\ndef g():\n    return 1\n", ""),
        (VALUES.replace("1", "3"), "read placed"),
        (VALUES.replace("1,\n", "1,\n\n"), "read placed"),
        (VALUES.replace("X = [1", "X = [ 1"), "read placed"),
        ("import os\n\n\ndef f():\n    return X\nX = [1,\n     2]\n", "read placed"),
        (VALUES.replace("import os\n", "import os\nY = [1,\n     2]\n"), "read placed"),
    ],
)
def test_expressions_of_a_fact_count_by_what_they_say_and_by_what_stands_before_them(changed: str, counts: str) -> None:
    """On which line they stand is for those who name lines."""

    def read_of(text: str, placed: bool) -> object:
        module = built(text)
        with module.program.watched() as touched:
            module.index(firsts)
            module.function_at("f").free_names()
            if placed:
                module.program.names_lines(["a.py"])
            return reads(touched)

    assert (read_of(VALUES, False) != read_of(changed, False)) == ("read" in counts)
    assert (read_of(VALUES, True) != read_of(changed, True)) == ("placed" in counts)


def test_what_a_fact_asks_of_other_files_counts_for_who_asks_it_again() -> None:
    assert [path for path, _ in read(built(FILE), "beside")] == ["a.py", "b.py"]  # type: ignore[attr-defined]
    assert read(built(FILE, "c = 1"), "beside") != read(built(FILE, "c = 2"), "beside")


def test_what_cannot_be_found_again_by_its_name_stands_for_the_whole() -> None:
    module = built(FILE)
    with module.program.watched() as touched:
        module.index(lambda each: each.path)
    assert reads(touched) == [("a.py", None)]
