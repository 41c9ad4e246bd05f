"""What is found out about a function, a file or the program is found out once, and forgotten with what it is about."""

from __future__ import annotations

import ast

from tclint.program import Function, Module, Program

SOURCE = b"X = 1\n\ndef f(a, *b, c=1, **d):\n    e = a\n    return [g for g in e if X]\n"


def program() -> Program:
    files = [(f"{name}.py", f"/{name}.py", SOURCE, True) for name in ("m", "n")]
    return Program.build(files)


def test_an_index_of_a_function_lives_as_long_as_its_node() -> None:
    (function,) = program().modules[0].functions
    made: list[str] = []

    def build(subject: Function) -> int:
        made.append(subject.qualname)
        return subject.node.lineno

    def of_node(node: ast.AST) -> int:
        made.append(type(node).__name__)
        return 1

    assert [function.index(build), function.index(build), function.node_index(of_node)] == [3, 3, 1]
    assert made == ["f", "FunctionDef"]
    function.forget()
    assert function.index(build) == 3
    assert made == ["f", "FunctionDef", "f"]


def test_an_index_of_a_file_outlives_its_tree_and_one_of_the_tree_does_not() -> None:
    module = program().modules[0]
    made: list[str] = []

    def of_file(subject: Module) -> list[str]:
        made.append(subject.path)
        return list(subject.names)

    def of_tree(tree: ast.AST) -> int:
        made.append(type(tree).__name__)
        return 0

    for _ in range(2):
        assert module.index(of_file) == ["X", "f"]
        assert module.node_index(of_tree) == 0
        module.forget()
    assert made == ["m.py", "Module", "Module"]


def test_whoever_asks_about_all_files_depends_on_all_of_them() -> None:
    whole = program()

    def paths(subject: Program) -> list[str]:
        return [module.path for module in subject.modules]

    for _ in range(2):
        with whole.watched() as touched:
            assert whole.index(paths) == ["m.py", "n.py"]
        assert touched == set(whole.modules)


def test_the_names_of_a_function() -> None:
    (function,) = program().modules[0].functions
    assert function.bound_names() == {"a", "b", "c", "d", "e", "g"}
