"""Tables that a program fills where it defines things, and reads where it builds."""

from __future__ import annotations

import ast

from small_programs import interpreter

from tclint.interpreter.machine import Interpreter
from tclint.values import UNKNOWN, ClassValue, FunctionValue, Value


def read(interp: Interpreter, expression: str) -> Value:
    """The value of an expression at the top level of the file `a`."""
    (module,) = [m for m in interp.program.modules if m.name == "a"]
    return interp.evaluate_silently(interp.names.frame(module), ast.parse(expression, mode="eval").body)


def names(value: Value) -> set[str]:
    found = set()
    for option in value.options:
        assert isinstance(option, (ClassValue, FunctionValue)), option
        found.add(option.cls.name if isinstance(option, ClassValue) else option.function.name)
    return found


def test_statements_fill_a_table() -> None:
    interp = interpreter(
        a="""
        class A: ...
        class B: ...
        class C: ...
        def key(): return open("x").read()
        T = {}
        T["a"] = A
        T.update({"b": B})
        S = dict(a=A)
        S[key()] = C
        """
    )
    assert names(read(interp, "T['a']")) == {"A"}
    assert names(read(interp, "T['b']")) == {"B"}
    assert names(read(interp, "T[key()]")) == {"A", "B"}
    assert names(read(interp, "S[key()]")) == {"A", "C"}


def test_functions_fill_a_table_from_other_files() -> None:
    interp = interpreter(
        a="""
        T = {}
        def register(c):
            T[c.__name__.lower()] = c
            return c
        def register_as(name, *, force=False):
            def wrap(c):
                T[name] = c
                return c
            return wrap
        def register_some(names):
            def wrap(c):
                for name in names:
                    T[name] = c
                return c
            return wrap
        """,
        b="""
        import a
        from a import register, register_as as known_as

        @register
        class A: ...

        @a.register_as("b")
        class B: ...

        @a.register_as(name="f")
        def make(): ...

        class C: ...
        register(C)

        class D: ...
        a.register_as("d")(D)
        """,
        c="""
        def register(c): return c  # of the same name, and another one

        @register
        class Other: ...
        """,
    )
    assert names(read(interp, "T['a']")) == {"A"}
    assert names(read(interp, "T['b']")) == {"B"}
    assert names(read(interp, "T['f']")) == {"make"}
    assert names(read(interp, "T['c']")) == {"C"}
    assert names(read(interp, "T['d']")) == {"D"}


def test_a_key_that_is_bound_anew_may_be_any() -> None:
    interp = interpreter(
        a="""
        T = {}
        def register(name=None):
            def wrap(c):
                key = name or c.__name__
                T[key] = c
                return c
            return wrap

        @register()
        class A: ...
        """
    )
    assert names(read(interp, "T['whatever']")) == {"A"}


REGISTRY = """
class Registry:
    def __init__(self, name):
        self.held = {}
    def _put(self, module, name):
        self.held[name or module.__name__] = module
    def register(self, name=None):
        def wrap(module):
            self._put(module, name)
            return module
        return wrap
    def get(self, name):
        return self.held[name]
BLOCKS = Registry("blocks")
"""


def test_an_object_is_filled_by_its_methods() -> None:
    interp = interpreter(
        a=REGISTRY, b="from a import BLOCKS\n@BLOCKS.register()\nclass A: ...\n@BLOCKS.register('b')\nclass B: ...\n"
    )
    assert names(read(interp, "BLOCKS.get('A')")) == {"A", "B"}


def test_two_objects_of_one_class_are_not_mixed() -> None:
    uses = "from a import BLOCKS, HEADS\n@BLOCKS.register()\nclass A: ...\n@HEADS.register()\nclass B: ...\n"
    interp = interpreter(a=REGISTRY + "HEADS = Registry('heads')\n", b=uses)
    assert read(interp, "BLOCKS.get('A')") is UNKNOWN


def test_of_too_many_nothing_is_known() -> None:
    many = "".join(f"@register\nclass C{n}: ...\n" for n in range(40))
    interp = interpreter(a=f"T = {{}}\ndef register(c):\n    T[c.__name__] = c\n    return c\n{many}")
    assert read(interp, "T['C1']") is UNKNOWN
