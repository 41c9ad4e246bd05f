"""Python numbers that may stay tensors, or need no numpy: what TCL103, TCL117 and TCL508 offer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.fixes.purity import only_logs
from tclint.fixes.uses import uses_in
from tclint.model.finding import Applicability, Fix
from tclint.program import Import
from tclint.rules._unbacked import walked
from tclint.rules._windows import pick, windows
from tclint.sources.tree import ancestors, names_read, nodes, same

if TYPE_CHECKING:
    from tclint.events import Event
from tclint.torch_facts import facts
from tclint.values import ARRAY, DATA_SIZED, NAMED, External, Instance, Seq, Tensor, spoken_of

DRAWN_NUMBER: Final = "a number that Python's `random` drew"
DRAW_OUTSIDE: Final = "draw it in the caller and pass it, or draw a tensor: torch.rand, torch.randint"

# Functions of math, and what torch calls them.
MATH: Final = {**{name: name for name in facts.methods("does the same on tensors under its own name")}, "fabs": "abs"}
_TAKES: Final = facts.methods("takes a 0-d tensor for a number")
_DEEPEST: Final = 3
"""How many names a value is followed through."""
_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def arithmetic(place: Place, partner: bool = False) -> bool:
    """Whether the value of the node is used in arithmetic with something else and nowhere else; `partner` where that has
    been done already."""
    return _used(place, place.node, place.chain, partner, frozenset())


def _used(place: Place, node: ast.AST, chain: list[ast.AST], partner: bool, seen: frozenset[str]) -> bool:
    """Whether arithmetic uses the value of a node; `seen` are the names that it went through."""
    if _is_said(chain):
        return True
    for i in range(len(chain) - 1, -1, -1):
        parent = chain[i]
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
            other = parent.right if same(parent.left, node) else parent.left
            if _is_tensor(place, other):
                return True  # a tensor comes out either way
            partner = partner or bool(names_read([other])) and not _plain_number(place, other)
        elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, (ast.USub, ast.UAdd)):
            pass
        elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(chain[i - 1], ast.Call):
            partner = True
        elif isinstance(parent, ast.Compare) and all(isinstance(op, _ORDER) for op in parent.ops):
            return i > 0 and _asked(chain[i - 1], parent, chain[: i - 1])
        elif _asked(parent, node, chain[:i]):
            return True  # the branch on it is a finding of its own, with a fix of its own or none
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("max", "min"):
            # Dynamo takes the larger of a tensor and a number as a tensor.
            if len(parent.args) != 2 or parent.keywords:
                return False
        elif isinstance(parent, ast.Call) and any(same(a, node) for a in parent.args):
            func = parent.func
            if not isinstance(func, ast.Attribute):
                return False
            if func.attr == "append" and isinstance(func.value, ast.Name):
                return _listed(place, func.value.id)
            if not (isinstance(func.value, ast.Name) and func.value.id == "math" and func.attr in MATH):
                # A tensor's method: `add` of an object of the program is something else.
                return func.attr in _TAKES and not isinstance(place.event.ask.evaluate(func.value), Instance)
            partner = True
        elif isinstance(parent, (ast.Subscript, ast.Tuple)) and (outer := _subscript(chain[: i + 1], node)) is not None:
            # As an index, it is a finding of its own, with a fix of its own.
            found = pick(place, outer)
            return found is not None and same(found[2], node) and _is_tensor(place, outer.value)
        elif isinstance(parent, ast.Slice):
            outer = _subscript(chain[:i], parent)
            return outer is not None and bool(windows(place, outer))
        elif isinstance(parent, ast.IfExp):
            pass  # one of the two values that it may have
        elif isinstance(parent, (ast.Tuple, ast.Dict)) and isinstance(chain[i - 1], ast.Return):
            # Beside others in what is returned; as a key it would have to be a number.
            if isinstance(parent, ast.Dict) and any(key is not None and same(key, node) for key in parent.keys):
                return False
        elif isinstance(parent, ast.Return):
            return partner and not _is_position_of_caller(place.event)
        elif isinstance(parent, ast.AugAssign):
            return same(parent.value, node) and isinstance(parent.op, _ARITHMETIC)
        elif isinstance(parent, ast.Assign):
            return _name_used(place, parent, partner, seen)
        else:
            return False
        node = parent
    return False


def _subscript(chain: list[ast.AST], node: ast.AST) -> ast.Subscript | None:
    """The subscript that a node is the index of, or a part of the index."""
    outer = chain[-2] if isinstance(chain[-1], ast.Tuple) and len(chain) > 1 else chain[-1]
    return outer if isinstance(outer, ast.Subscript) and not same(outer.value, node) else None


def _is_tensor(place: Place, node: ast.expr) -> bool:
    return isinstance(known := place.event.ask.evaluate(node), Tensor) and known.conf > NAMED


def _is_said(chain: list[ast.AST]) -> bool:
    """Whether a value is only shown: in the text of an exception, or in what is logged."""
    return any(isinstance(n, ast.Raise) or (isinstance(n, ast.Expr) and only_logs(n)) for n in chain)


def _listed(place: Place, name: str) -> bool:
    """Whether a list of the function is only there to become a tensor: then it may as well hold tensors."""
    uses = uses_in(place.function)
    if not isinstance(place.event.ask.local(name), Seq) or len(uses.stores(name)) != 1:
        return False
    made = [above[-1] for _, above in uses.reads(name) if not isinstance(above[-1], ast.Attribute)]
    known = [call for call in made if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)]
    return bool(made) and len(known) == len(made) and all(_makes_tensor(place, call.func) for call in known)


def _makes_tensor(place: Place, func: ast.expr) -> bool:
    """`torch.tensor`, which takes numbers and tensors of one element alike."""
    known = place.event.ask.evaluate(func)
    return isinstance(known, External) and known.name in facts.named("makes a tensor of a list of tensors in the graph")


def _is_position_of_caller(event: Event) -> bool:
    """Whether what a function returns bounds a slice, is an index or a count where it was called: there a number is needed."""
    for frame, call in event.ask.calls_here():
        if call is None or frame.function is None:
            return False
        return _is_position(call, ancestors(frame.module.tree, call), frame.function.node, 2)
    return False


def _is_position(node: ast.AST, chain: list[ast.AST], function: ast.AST, depth: int) -> bool:
    for parent in reversed(chain):
        if isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and not same(parent.value, node)):
            return True
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "range":
            return True
        if isinstance(parent, ast.Assign) and depth:
            reads = [r for t in parent.targets if isinstance(t, ast.Name) for r in uses_in(function).reads(t.id)]
            return any(_is_position(read, above, function, depth - 1) for read, above in reads)
        if not isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            return False
        node = parent
    return False


def _asked(parent: ast.AST, node: ast.AST, above: list[ast.AST]) -> bool:
    """Whether an `if`, a conditional expression or an `assert` asks for the truth of a node, or of a condition with it."""
    if isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        return bool(above) and _asked(above[-1], parent, above[:-1])
    return isinstance(parent, (ast.If, ast.IfExp, ast.Assert)) and same(parent.test, node)


def _plain_number(place: Place, node: ast.AST) -> bool:
    """`math.pi`, and what is built of such and constants."""
    return all(isinstance(d := place.module.names.get(n), Import) and d.target == "math" for n in names_read([node]))


def _name_used(place: Place, statement: ast.Assign, partner: bool, seen: frozenset[str]) -> bool:
    """The same question for every read of the name that the value is bound to, wherever else it is bound."""
    function, target = place.function, statement.targets[0]
    if function is None or len(statement.targets) != 1 or len(seen) == _DEEPEST:
        return False
    if isinstance(target, ast.Attribute):
        return _state_used(place, target)
    if not isinstance(target, ast.Name):
        return False
    if target.id in seen:
        return True  # asked already: `scale = min(scale, 10.0)`
    reads = list(uses_in(function).reads(target.id))
    if all(_is_said(above) for _, above in reads):
        return False  # nothing but words: what says them can be left out with it
    return all(_used(place, read, above, partner, seen | {target.id}) for read, above in reads)


def _state_used(place: Place, target: ast.Attribute) -> bool:
    """The same for what an object keeps, where there was nothing before: whoever reads it asks whether it is there, or computes."""
    named = [n for n in nodes(place.module.tree) if isinstance(n, ast.Attribute) and n.attr == target.attr]
    none = read = False
    for node in named:
        chain = ancestors(place.module.tree, node)
        outer = chain[-1]
        if isinstance(outer, ast.Call) and same(outer.func, node):
            continue  # a method of something else
        if isinstance(node.ctx, ast.Load):
            if not _computed(chain):
                return False
            read = True
        elif isinstance(outer, ast.Assign) and isinstance(outer.value, ast.Constant):
            if outer.value.value is not None:
                return False  # a number at first: `in_buffer`
            none = True
    return none and read


def _computed(chain: list[ast.AST]) -> bool:
    outer = chain[-1]
    if isinstance(outer, ast.Compare):
        return len(outer.ops) == 1 and isinstance(outer.ops[0], (ast.Is, ast.IsNot))
    return _is_said(chain) or (isinstance(outer, ast.BinOp) and isinstance(outer.op, _ARITHMETIC))


def keep_tensor(event: Event, value: ast.expr, suffix: str = "") -> Fix | None:
    """The tensor instead of the number that is read out of it."""
    place = Place(event)
    # A function inside another is often handed to vmap and its kin, where a number and a tensor are not alike.
    nested = sum(isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for n in place.chain) > 1
    if nested or not arithmetic(place):
        return None
    cut = "" if suffix or _is_cut(place, value) else ".detach()"
    text = f"{place.atom(value)}{suffix}{cut}" if suffix or cut else place.operand(value)
    note = "the number stays a 0-d tensor: wrong where somebody further on needs a Python number"
    return Fix("keep the 0-d tensor", Applicability.UNSAFE, (place.replace(place.node, text),), note)


def walk_tensor(event: Event, value: ast.expr) -> Fix | None:
    """`for n in lengths:` for `for n in lengths.tolist():`, where arithmetic uses the numbers."""
    place = Place(event)
    target = walked(place.node, place.chain)
    known = spoken_of(event.ask.evaluate(value))
    if target is None or known is None or known.ndim != 1 or known.flags & (ARRAY | DATA_SIZED):
        return None
    reads = list(uses_in(place.function).reads(target.id))
    if not reads or not all(_used(place, read, above, False, frozenset({target.id})) for read, above in reads):
        return None
    text = f"{place.atom(value)}{'' if _is_cut(place, value) else '.detach()'}"
    note = "the numbers stay 0-d tensors: wrong where somebody further on needs Python numbers"
    return Fix("go through the tensor", Applicability.UNSAFE, (place.replace(place.node, text),), note)


def _is_cut(place: Place, value: ast.expr) -> bool:
    """Whether no gradient comes through a value: Python's numbers have none, and the tensor in their place must not have one."""
    known = spoken_of(place.event.ask.evaluate(value))
    if known is not None and (known.dtype in ("i", "b") or known.flags & ARRAY):
        return True
    if isinstance(value, ast.Name):
        stores = uses_in(place.function).stores(value.id)
        given = [n for n in ast.walk(place.function) if isinstance(n, ast.Assign)] if place.function else []
        values = [n.value for n in given if len(stores) == 1 and stores[0] in n.targets]
        return any(map(_detaches, values))
    return _detaches(value)


def _detaches(value: ast.expr) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "detach" for n in ast.walk(value))


def torch_math(event: Event, name: str) -> Fix | None:
    """`torch.sqrt(t)` for `math.sqrt(t)`, without the gradient that it never had."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    if (
        name not in MATH
        or torch is None
        or not isinstance(node, ast.Call)
        or len(node.args) != 1
        or not arithmetic(place, partner=True)
    ):
        return None
    value = node.args[0]
    edit = place.replace(node.func, f"{torch[0]}.{MATH[name]}")
    if not _is_cut(place, value):
        edit = place.replace(node, f"{torch[0]}.{MATH[name]}({place.atom(value)}.detach())")
    note = "computed in the tensor's precision; the result is a 0-d tensor"
    return Fix("use the torch function", Applicability.UNSAFE, (*torch[1], edit), note)


def numpy_on_sizes(event: Event, node: ast.expr) -> Fix | None:
    """`math.prod(x.shape)` for `int(np.prod(x.shape))` and `np.prod(x.shape)`; `math.ceil` and `math.floor` likewise."""
    inner = node.args[0] if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args else node
    if (
        not isinstance(inner, ast.Call)
        or not isinstance(inner.func, ast.Attribute)
        or len(inner.args) != 1
        or inner.keywords
    ):
        return None
    place = Place(event, node)
    owner, name, value = inner.func.value, inner.func.attr, inner.args[0]
    imported = place.module.names.get(owner.id) if isinstance(owner, ast.Name) else None
    if not isinstance(imported, Import) or imported.target != "numpy" or not _of_sizes(value):
        return None
    if name not in facts.methods("does the same on sizes as math") or (name in ("ceil", "floor") and node is inner):
        return None
    math = place.importing("math")
    if math is None:
        return None
    text = f"{math[0]}.{name}({place.source(value)})"
    if name == "sqrt" and node is not inner:
        text = f"{place.source(node.func)}({text})"  # type: ignore[attr-defined]
    how = Applicability.SAFE if name == "prod" or node is not inner else Applicability.UNSAFE
    return Fix(f"use math.{name}", how, (*math[1], place.replace(node, text)), "")


def _of_sizes(node: ast.AST) -> bool:
    """Whether an expression is made of shapes and constants."""
    found = False
    allowed: set[int] = set()
    for each in ast.walk(node):
        size = (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr in facts.methods("gives a size")
        )
        if (isinstance(each, ast.Attribute) and each.attr in ("shape", "ndim")) or size:
            found = True
            allowed |= {id(n) for n in ast.walk(each) if isinstance(n, ast.Name)}
    return found and all(not isinstance(n, ast.Name) or id(n) in allowed for n in ast.walk(node))


def square_root(event: Event) -> Fix | None:
    """`math.sqrt(n)` for `torch.sqrt(torch.tensor(n))`."""
    place = Place(event)
    node, outer = place.node, place.parent
    if (
        not isinstance(outer, ast.Call)
        or not isinstance(outer.func, ast.Attribute)
        or outer.func.attr not in facts.methods("is taken of a number as of a tensor")
    ):
        return None
    if not isinstance(outer.func.value, ast.Name) or len(outer.args) != 1 or outer.keywords or len(node.args) != 1:
        return None
    around = Place(event, outer)
    math = place.importing("math")
    if math is None or not arithmetic(around) or any(k.arg not in ("dtype", "device") for k in node.keywords):
        return None
    text = f"{math[0]}.{outer.func.attr}({place.source(node.args[0])})"
    return Fix(f"use math.{outer.func.attr}", Applicability.SAFE, (*math[1], place.replace(outer, text)), "")


def on_device(event: Event, scalar: bool) -> Fix | None:
    """A tensor built where the inputs are: `device=x.device`, and `torch.full` for a scalar."""
    place = Place(event)
    node, function = place.node, place.function
    if not isinstance(node, ast.Call) or function is None or any(k.arg is None for k in node.keywords):
        return None
    like = _tensor_argument(event, function)
    parent, outer = place.parent, place.chain[-2] if len(place.chain) > 1 else None
    whole: ast.Call = node
    moved = ""
    if (
        isinstance(parent, ast.Attribute)
        and parent.attr == "to"
        and isinstance(outer, ast.Call)
        and len(outer.args) == 1
    ):
        if outer.keywords or not _is_device(outer.args[0]):
            return None
        whole, moved = outer, place.source(outer.args[0])
    elif like is None:
        return None
    device = moved or f"{like}.device"
    plain = all(k.arg == "dtype" for k in node.keywords) and len(node.args) == 1
    if scalar and plain:
        dtype = "".join(f", {place.source(k)}" for k in node.keywords)
        name = place.source(node.func).rpartition(".")[0]
        if not name:
            return None
        text = f"{name}.full((), {place.argument(node.args[0])}{dtype}, device={device})"
        title = "build it on the device with torch.full"
    elif any(k.arg == "device" for k in node.keywords) or not (node.args or node.keywords):
        return None
    else:
        last = place.source(node).removesuffix(")").rstrip()
        text = f"{last.rstrip(',')}, device={device})" if "#" not in last else ""
        title = "build it on the device"
        if not text or place.source(node).count("\n"):
            return None
    how = Applicability.SAFE if moved else Applicability.UNSAFE
    note = "" if moved else f"the tensor is then on the device of `{like}`"
    return Fix(title, how, (place.replace(whole, text),), note)


def _is_device(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("device", "dev")


def _tensor_argument(event: Event, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """A parameter of the function that is surely a tensor here, and stays one."""
    for argument in function.args.args:
        value = event.ask.local(argument.arg)
        if isinstance(value, Tensor) and value.conf > NAMED and len(uses_in(function).stores(argument.arg)) == 1:
            return argument.arg
    return None
