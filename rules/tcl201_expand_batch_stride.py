"""TCL201: an expanded tensor crosses into compiled code, or lives across a graph break."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tclint.events import CompiledCall, Event, GraphBreak, ProgramCall
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span
from tclint.ruleset.rule import Rule
from tclint.sources.tree import by_kind
from tclint.values import EXPANDED, Const, Evidence, FunctionValue, Scalar, Tensor, Value


class ExpandBatchStride(Rule):
    """`expand` over the batch gives strides that depend on whether the batch is 1.

    For a batch of 1 the result is contiguous, for more it has stride 0. Inside one graph that does not matter. Handed to a
    separately compiled callable it does: "tensor 'position_ids' stride mismatch at index 0. expected 0, actual 10", and the
    callee is compiled once more.

    Bad::

        @torch.compile
        def block(x, position_ids):
            return x + position_ids

        def caller(x):
            position_ids = torch.arange(x.shape[1]).unsqueeze(0).expand(x.shape[0], -1)
            return block(x, position_ids)

    Good::

        @torch.compile
        def block(x, position_ids):
            return x + position_ids

        def caller(x):
            position_ids = torch.arange(x.shape[1]).unsqueeze(0).repeat(x.shape[0], 1)
            return block(x, position_ids)

    The same happens without a second compile call where the graph breaks while the tensor is alive: the function that breaks, or the
    rest of it, is compiled by itself and takes the tensor as an input, with a guard on its strides. A break in a loop or a `with`
    sends the whole function to eager: then every function that it calls is compiled by itself. There the break is the
    cause: without it nothing crosses, and `repeat` alone saves no program, because a batch of 1 is a program of its own anyway.

    Fix: `repeat` or `.contiguous()`; across a graph break, mend the break. It copies: worth it for small tensors such as position ids and masks. `--fix`
    writes `repeat` for `unsqueeze(k).expand(…)` over that dimension, `.contiguous()` otherwise; nothing where a break is to blame.

    What it costs: one program where the dimension is marked unbacked, which otherwise knows no 1 (four where two dimensions are expanded).
    Without such a mark a batch of 1 is a program of its own anyway, expanded or not. Of a batch that is no size of a tensor in sight
    nothing says that it varies, and nothing is said of it.

    Ignore it where the batch is never 1.
    """

    code, name = "TCL201", "expand-batch-stride"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "any"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        if event.compiled or event.callee.site.dynamic is True:
            return
        values = (*event.args, *event.keywords.values())
        expanded = [t for v in values if (t := _expanded(v)) is not None]
        made_here = event.ask.of_scope(_expansions) if expanded else {}
        for tensor in expanded:
            node = tensor.origin.node
            if not _expands(node) or tensor.origin.path not in ("", event.module.path):
                continue  # it came through other hands: nobody knows what they made of it
            if _is_flat(event, node):
                continue
            call = made_here.get(id(node))
            # A batch of which nobody knows that it differs from call to call is no hazard: unknown is not varies.
            varies = (
                Confidence.HIGH if tensor.is_unbacked else _varies(event, _grown(call)) if call is not None else None
            )
            marked_alone = tensor.marks and len(expanded) == 1
            yield self.finding(
                event,
                f"`expand` over a size that varies, handed to a compiled callable (line {event.node.lineno}):"  # type: ignore[attr-defined]
                " its strides differ between batch 1 and more, which recompiles the callee",
                node=node,
                # One expanded tensor with marked dimensions costs one more program; two or more multiply.
                confidence=Confidence.HIGH if varies and not marked_alone else Confidence.LOW,
                help="use repeat, or .contiguous() before the call",
            )

    def on_graph_break(self, event: GraphBreak) -> Iterator[Finding]:
        crossing: list[Value] = []
        if event.function is not None and not event.at.eager:
            read = event.function.function.node_index(_read)
            crossing += [value for name, value in event.given.items() if name in read]
        if event.resumes:
            line = getattr(event.node, "end_lineno", 0)
            for name, last in event.ask.of_scope(_read).items():
                if last > line and (value := event.ask.local(name)) is not None:
                    crossing.append(value)
        where = "" if event.at.path == event.module.path else f"{event.at.path}:"
        yield from self._crossing(event, crossing, f"alive across the graph break at {where or 'line '}{event.at.line}")

    def on_program_call(self, event: ProgramCall) -> Iterator[Finding]:
        """A call from a function that a break in a block has sent to eager: what it calls is compiled by itself."""
        if event.compiled and isinstance(event.function, FunctionValue) and event.ask.runs_eagerly():
            given = [*event.args, *event.keywords.values()]
            yield from self._crossing(event, given, "handed on by a function that a graph break has sent to eager")

    def _crossing(self, event: Event, values: Sequence[Value], how: str) -> Iterator[Finding]:
        tensors = [tensor for value in values if (tensor := _expanded(value)) is not None]
        made_here = event.ask.of_scope(_expansions) if tensors else {}
        if not made_here or event.ask.in_one_call():
            return  # what the calls are together is known where the region itself is looked at
        for node in dict.fromkeys(made_here.get(id(tensor.origin.node)) for tensor in tensors):
            confidence = _varies(event, _grown(node)) if node is not None else None
            if node is None or confidence is None:
                continue
            yield self.finding(
                event,
                f"`expand` over a size that may be 1, {how}: what comes after it is guarded on strides that differ"
                " between batch 1 and more",
                node=node,
                confidence=confidence,
                severity=Severity.LOW,
                help="mend the break: then nothing crosses; or use repeat, whose strides do not tell",
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, (GraphBreak, ProgramCall)):
            return None
        node = node_at(event, finding.span, ast.Call)
        if node is None:
            return None
        place = Place(event, node)
        note = "it copies: worth it for small tensors"
        repeated = _repeat(node)
        if repeated is not None:
            func, sizes = repeated
            end = place.span(node)
            start = place.span(func.value)
            text = f".repeat({', '.join('1' if s is None else place.source(s) for s in sizes)})"
            span = Span(start.end_line, start.end_column, end.end_line, end.end_column)
            return Fix("repeat instead of expand", Applicability.SAFE, (Edit(finding.path, span, text),), note)
        return Fix("make it contiguous", Applicability.SAFE, (place.append(node, ".contiguous()"),), note)


def _expands(node: object) -> bool:
    """Whether the place a tensor comes from is the call that expands it."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr.startswith(("expand", "broadcast_to"))


def _expanded(value: Value) -> Tensor | None:
    return value if isinstance(value, Tensor) and value.flags & EXPANDED and value.ndim != 1 else None


def _is_flat(event: Event, node: object) -> bool:
    """Whether one size alone is given, `timestep.expand(n)`: what one dimension has for a stride nobody asks where it is 1,
    and of a tensor without dimensions it is 0 for any size."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return False
    size = event.ask.evaluate(node.args[0])
    return isinstance(size, Scalar) or isinstance(size, Const) and isinstance(size.value, int)


def _read(node: ast.AST) -> dict[str, int]:
    """The names that a function reads, each with the last line where it does."""
    found: dict[str, int] = {}
    for each in by_kind(node)[ast.Name]:
        if isinstance(each.ctx, ast.Load):
            found[each.id] = max(found.get(each.id, 0), each.lineno)
    return found


def _expansions(node: ast.AST) -> dict[int, ast.Call]:
    """The calls of a function that expand something, by their identity."""
    return {id(each): each for each in by_kind(node)[ast.Call] if _expands(each)}


def _grown(node: ast.Call) -> list[ast.expr]:
    """The sizes of `x.unsqueeze(0).expand(b, -1)` that are surely new: of a dimension made for it, or the ones that are
    written out where others are kept. Who writes all of them down may repeat the sizes that are there."""
    func = node.func
    sizes = list(node.args)
    if not isinstance(func, ast.Attribute) or any(isinstance(a, ast.Starred) for a in sizes):
        return []
    kept = [a for a in sizes if ast.unparse(a) == "-1"]
    if kept:
        return [a for a in sizes if a not in kept]
    return [sizes[at] for at in _made(func.value) if -len(sizes) <= at < len(sizes)]


def _made(node: ast.expr) -> list[int]:
    """The dimensions that `x.unsqueeze(0)` or `x[None, :]` makes."""
    if isinstance(node, ast.Subscript):
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(i, ast.Constant) and i.value is ... for i in index):
            return []
        return [at for at, i in enumerate(index) if isinstance(i, ast.Constant) and i.value is None]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unsqueeze":
        at = node.args[0] if len(node.args) == 1 else None
        return [at.value] if isinstance(at, ast.Constant) and isinstance(at.value, int) else []
    return []


def _varies(event: Event, sizes: list[ast.expr]) -> Confidence | None:
    """How sure it is that one of the sizes is 1 in some calls and more in others; None where it is not so."""
    found: Confidence | None = None
    for node in sizes:
        size = event.ask.evaluate(node)
        if not isinstance(size, Scalar) or size.source != "size":
            continue
        taken = _taken(event.evidence, size) if event.evidence is not None else None
        if taken is None:
            found = found or Confidence.MEDIUM
        elif any(1 in each and len(each) > 1 for each in taken):
            return Confidence.HIGH
    return found


def _taken(evidence: Evidence, size: Scalar) -> list[set[int]] | None:
    """What a size is in the calls seen; one that has no name here may be one of any argument. None where nobody knows."""
    calls = len(evidence.rows)
    if size.ref is not None:
        known = evidence.sizes(*size.ref)
        return [set(known)] if known and len(known) == calls else None
    found: list[set[int]] = []
    for name in evidence.values:
        shapes = evidence.shapes(name)
        if shapes and len(shapes) < calls:
            return None
        for dim in range(max(map(len, shapes), default=0)):
            known = evidence.sizes(name, dim)
            if len(known) < calls:
                return None
            found.append(set(known))
    return found or None


def _repeat(node: ast.Call) -> tuple[ast.Attribute, list[ast.expr | None]] | None:
    """The counts of `x.unsqueeze(0).expand(b, -1)`, None for a dimension that stays."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "expand" or node.keywords:
        return None
    inner = func.value
    if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "unsqueeze"):
        return None
    at = inner.args[0].value if len(inner.args) == 1 and isinstance(inner.args[0], ast.Constant) else None
    sizes = [None if ast.unparse(a) == "-1" else a for a in node.args]
    given = [i for i, size in enumerate(sizes) if size is not None]
    return (func, sizes) if given == [at] and not any(isinstance(a, ast.Starred) for a in node.args) else None
