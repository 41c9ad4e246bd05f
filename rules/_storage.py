"""Tensors whose storage is reshaped, written by halves or handed to another library and back: what TCL119 offers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.fixes.places import Place
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Edit, Fix
from tclint.sources.tree import same
from tclint.torch_facts import facts

if TYPE_CHECKING:
    from tclint.events import Event


def other_half(event: Event, written: str) -> Fix | None:
    """`z = torch.complex(v, z.imag)` for `z.real = v`."""
    place = Place(event)
    node = place.statement
    torch = place.importing("torch")
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or torch is None:
        return None
    target = node.targets[0]
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
        return None
    name, value = target.value.id, place.argument(node.value)
    halves = (value, f"{name}.imag") if written == "real" else (f"{name}.real", value)
    edit = place.replace(node, f"{name} = {torch[0]}.complex({', '.join(halves)})")
    note = "the tensor is no longer changed in place; both halves must have one dtype and shape"
    return Fix("build it of its halves", Applicability.UNSAFE, (*torch[1], edit), note)


def fresh_memory(event: Event) -> Fix | None:
    """`buf = buf.new_empty(size)` for `buf.resize_(size)`, where nothing was written to `buf` before."""
    place = Place(event)
    node, statement = place.node, place.statement
    if not isinstance(node, ast.Call) or not isinstance(statement, ast.Expr) or not same(statement.value, node):
        return None
    func = node.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or node.keywords or not node.args:
        return None
    name = func.value.id
    uses = uses_in(place.function)
    made = [
        s.value
        for s in (place.block(statement) or ())
        if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets)
    ]
    if len(uses.stores(name)) != 1 or len(made) != 1 or not isinstance(made[0], ast.Call):
        return None
    maker = made[0].func.attr if isinstance(made[0].func, ast.Attribute) else ""
    if maker not in facts.methods("gives memory that nobody has written"):
        return None
    if any(read.lineno < node.lineno for read, _ in uses.reads(name)):
        return None  # it may have been written, or kept
    size = ", ".join(place.source(a) for a in node.args)
    edit = place.replace(node, f"{name} = {name}.new_empty({size if len(node.args) == 1 else f'({size})'})")
    note = "another tensor of the same dtype and device: wrong where somebody holds the old one"
    return Fix("make a tensor of that size", Applicability.UNSAFE, (edit,), note)


def there_and_back(event: Event) -> Fix | None:
    """The tensor itself for `from_dlpack(to_dlpack(t))`, also where a name holds the capsule."""
    place = Place(event)
    function = place.function
    if function is None:
        return None
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and len(n.args) == 1 and not n.keywords]
    out = [n for n in calls if _name(n.func) == "to_dlpack"]
    back = [n for n in calls if _name(n.func) == "from_dlpack"]
    if len(out) != 1 or len(back) != 1:
        return None
    capsule = back[0].args[0]
    if isinstance(capsule, ast.Name):
        uses = uses_in(function)
        holder = next((s for s in ast.walk(function) if isinstance(s, ast.Assign) and s.value is out[0]), None)
        bound = holder is not None and any(isinstance(t, ast.Name) and t.id == capsule.id for t in holder.targets)
        if not bound or len(uses.stores(capsule.id)) != 1 or len(list(uses.reads(capsule.id))) != 1:
            return None
        edits: tuple[Edit, ...] = (
            place.replace(out[0], place.source(out[0].args[0])),
            place.replace(back[0], capsule.id),
        )
    elif capsule is out[0]:
        edits = (place.replace(back[0], place.operand(out[0].args[0])),)
    else:
        return None
    note = "the tensor keeps its gradient, which what comes back has not"
    return Fix("use the tensor itself", Applicability.UNSAFE, edits, note)


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
