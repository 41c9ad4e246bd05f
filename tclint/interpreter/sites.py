"""Compile sites as values: what `torch.compile(…)` gives, and what calling it means."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint import events
from tclint.interpreter import calls
from tclint.interpreter.frame import Frame
from tclint.interpreter.parameters import as_input
from tclint.regions import CompileSite, Region, uses_cudagraphs
from tclint.values import (
    NOWHERE,
    OWNED,
    PROVEN,
    UNKNOWN,
    Compiled,
    Const,
    Dict,
    External,
    Instance,
    Origin,
    Seq,
    Tensor,
    Union,
    Value,
)

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

COMPILERS: Final = frozenset({"torch.compile", "torch._dynamo.optimize", "torch.nn.Module.compile"})
_TEST_PATH: Final = re.compile(r"(^|/)(tests?|testing|benchmarks?|examples?)/|(^|/)(test_[^/]*|conftest|[^/]*_test)\.py$")


def _plain(value: Value | None) -> Any:
    """A compile argument as a Python constant: None where absent, "?" where it cannot be read."""
    if value is None:
        return None
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Union):
        plain = [o.value for o in value.options if isinstance(o, Const)]
        strings = [p for p in plain if isinstance(p, str)]
        return strings[0] if strings else "?"
    return "?"


def compile_call(
    interp: Interpreter,
    frame: Frame,
    node: ast.AST,
    name: str,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    decorator: bool = False,
) -> Value:
    """`torch.compile(target, …)`; without a target it is a decorator to be applied later."""
    if not args and "model" not in keywords:
        from tclint.values import Partial

        return Partial(External(name), (), dict(keywords))
    target = args[0] if args else keywords["model"]
    options_value = keywords.get("options")
    options: dict[str, Any] | None = None
    if isinstance(options_value, Dict):
        options = {str(k): _plain(v) for k, v in options_value.items.items()}
    mode, backend = _plain(keywords.get("mode")), _plain(keywords.get("backend"))
    line = getattr(node, "lineno", 0)
    path = frame.module.path
    site = interp.sites.get((path, line))
    if site is None:
        site = CompileSite(
            path,
            line,
            _text(node),
            mode,
            backend,
            _plain(keywords.get("dynamic")),
            _plain(keywords.get("fullgraph")),
            options,
            uses_cudagraphs(mode, backend, options, interp.options.cudagraph_default),
            decorator,
            any(b in ("for", "while") for b in frame.blocks),
            bool(_TEST_PATH.search(path)),
        )
        interp.sites[(path, line)] = site
    while isinstance(target, Compiled):
        target = target.target
    interp.emit(events.Compile, frame, node, args[0] if args else target, keywords, len(args))
    if not any(t.key == target.key and s is site for t, s in interp.targets):
        interp.targets.append((target, site))
    return Compiled(target, site)


def _text(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "torch.compile"
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "…"


def call_compiled(
    interp: Interpreter,
    frame: Frame,
    node: ast.AST,
    value: Compiled,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    open_ended: bool = False,
) -> Value:
    """A call of a compiled callable: inside a region it is inlined, from eager code it crosses into its own region."""
    if frame.region is not None:
        return calls.call(frame, node, value.target, args, keywords, open_ended)
    interp.note_call(value.target, args, keywords)
    region = Region(value.site)
    inside = Frame(interp, frame.module, frame.function, {}, region, None, node)
    names = [f"argument {i}" for i in range(len(args))]
    inner_args = [as_input(a, n, NOWHERE) for a, n in zip(args, names, strict=True)]
    inner_keywords = {k: as_input(v, k, NOWHERE) for k, v in keywords.items()}
    result = calls.call(inside, node, value.target, inner_args, inner_keywords, open_ended)
    if result is UNKNOWN and not isinstance(value.target, Instance):
        result = Tensor(PROVEN, "", -1, 0, frame.origin(node))
    if result is UNKNOWN:
        result = Tensor(PROVEN, "", -1, 0, frame.origin(node))
    outcome = own(result, value.site if value.site.cudagraphs else None, frame.origin(node))
    interp.emit(events.CompiledCall, frame, node, value, args, keywords, outcome)
    return outcome


def own(value: Value, site: CompileSite | None, origin: Origin) -> Value:
    """The value as eager code gets it from a compiled call: fresh tensors, owned by the CUDA graph where there is one.

    A tensor that the region only passed through from its arguments stays the caller's.
    """
    flag = OWNED if site is not None else 0
    if isinstance(value, Tensor):
        from tclint.values import INPUT, PARAMETER

        if value.flags & (INPUT | PARAMETER):
            return Tensor(value.conf, value.dtype, value.ndim, value.flags & ~INPUT, origin)
        return Tensor(value.conf, value.dtype, value.ndim, flag, origin, "", site)
    if isinstance(value, Seq):
        if value.items is not None:
            return Seq(value.kind, tuple(own(v, site, origin) for v in value.items))
        return Seq(value.kind, None, own(value.elem, site, origin), value.length)
    if isinstance(value, Dict):
        items = {k: own(v, site, origin) for k, v in value.items.items()}
        return Dict(items, own(value.elem, site, origin) if value.elem is not None else None, value.kind)
    if isinstance(value, Union):
        return Union(tuple(own(o, site, origin) for o in value.options))
    if isinstance(value, Instance) and value.fields is not None:
        return Instance(value.cls, value.context, {k: own(v, site, origin) for k, v in value.fields.items()})
    return value
