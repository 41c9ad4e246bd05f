"""Who names a method: all files of the program are asked, and one that none of them names is called by none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tclint.program import Class, Function, Module, mentioning
from tclint.sources import roles
from tclint.sources.text import lines_of
from tclint.values import ClassValue, External

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

_BINDERS: Final = frozenset(each.__name__ for each in (staticmethod, classmethod, property))
"""Decorators that leave it to the program to call what they decorate."""
_CALLS_NOTHING: Final = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_MODULE: Final = "torch.nn.Module"
"""Of its methods it calls `forward`, and those that are private."""


def is_uncalled(interp: Interpreter, function: Function) -> bool:
    """Whether no code of the program calls a method, and nothing outside of it that is known of its class.

    Of a function at the top level nobody knows: a command may start it. One in a test is called by whoever runs the tests.
    """
    cls = function.cls
    if cls is None or function.parent is not None or roles.is_test(function.module.path):
        return False
    if not _waits_for_its_name(interp, function, cls):
        return False
    return not function.module.program.answers(_uses, function.name, cls.module.path, cls.address)


def _waits_for_its_name(interp: Interpreter, function: Function, cls: Class) -> bool:
    """Whether who calls a method has to name it: it is no hook of a foreign class, and nobody registers it."""
    if cls.node.decorator_list or not all(getattr(each, "id", "") in _BINDERS for each in function.decorators):
        return False
    bases = [base for each in interp.classes.mro(cls) for base in interp.classes.bases(each)]
    if not all(isinstance(base, (External, ClassValue)) for base in bases):
        return False
    foreign = {base.name for base in bases if isinstance(base, External)} - _CALLS_NOTHING
    if foreign - {_MODULE}:
        return False
    return not function.name.startswith("_" if foreign else "__") and not (foreign and function.name == "forward")


@mentioning(0)
def _uses(module: Module, name: str, path: str, address: str) -> bool:
    """Whether a file uses the name of a method of a class in a way that may call it."""
    text, word = lines_of(module.data), re.escape(name).encode()
    first = last = -1
    if module.path == path:
        if re.search(rb"[=(,\[][ \t\n]*" + word + rb"[ \t]*[),\]\n]", text):
            return True  # handed on in the body of its class
        # An answer that was kept is asked for again when the file has changed, and the class may be gone by then.
        cls = next((each for each in module.classes if each.address == address), None)
        if cls is not None:
            first, last = cls.node.lineno, cls.node.end_lineno or cls.node.lineno
    is_option = b"--" + name.encode() in text or b"--" + name.replace("_", "-").encode() in text
    for found in _on_its_lines(rb"(?<![\w.])([\w.]*[\])]?)\.[ \t]*" + word + rb"\b([ \t]*\()?", name.encode(), text):
        receiver, called = found[1], found[2]
        if is_option and not called:
            continue  # what a command line was given, as it was parsed
        root, _, part = receiver.partition(b".")
        if _is_module(text, root) or _is_comment(text, found.start()):
            continue
        if root == b"self" and part and first <= text.count(b"\n", 0, found.start()) <= last:
            continue  # what an object holds is another object
        return True
    handed = rb"[(,][ \t\n]*[\"']" + word + rb"[\"'][ \t\n]*[,)]"
    return not roles.is_test(module.path) and re.search(handed, text) is not None


def _on_its_lines(pattern: bytes, word: bytes, text: bytes) -> Iterator[re.Match[bytes]]:
    """What a pattern finds that holds a word and reaches over no end of a line: few lines hold the word."""
    compiled, at = re.compile(pattern), text.find(word)
    while at >= 0:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        yield from compiled.finditer(text, text.rfind(b"\n", 0, at) + 1, end)
        at = text.find(word, end)


def _is_module(text: bytes, root: bytes) -> bool:
    """Whether a name at the head of a dotted one is that of a Python module in a file: `torch.compile`, `re.compile`."""
    if root in (b"", b"torch"):  # of the second, texts speak without an import
        return bool(root)
    imported = rb"\n[ \t]*(?:import\b|from[ \t]+torch\b[\w.]*[ \t]+import\b)[^\n]*(?<![\w.])" + re.escape(root) + rb"\b"
    return re.search(imported, text) is not None


def _is_comment(text: bytes, at: int) -> bool:
    return text[text.rfind(b"\n", 0, at) + 1 : at].lstrip().startswith(b"#")
