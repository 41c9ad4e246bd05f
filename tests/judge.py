"""TorchDynamo as the judge of the fixtures.

A fixture states on its own lines what must be said about them (``# expect: TCL101 x.sum()``); this module runs it and
reports what the compiler did there. fixtures/README.md has the conventions. Reading expectations needs no torch: it is
imported by the functions that run something.

    python tests/judge.py fixtures/rules/TCL101_data_dependent_branch/*.py
    python tests/judge.py --cuda fixtures/rules/TCL301_cudagraph_output_escape/bad_stored.py
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import io
import json
import logging
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
VENDOR = FIXTURES / "vendor"  # plays the part of site-packages

_EXPECT = re.compile(r"#\s*expect:\s*(?P<items>.*)$")
_ITEM = re.compile(r"(?P<code>TCL\d{3})(?:\s+torch(?P<op>>=|<=|==|<|>)(?P<version>\d+\.\d+))?(?:\s+(?P<words>.*))?$")


@dataclass(frozen=True)
class Expectation:
    line: int
    code: str
    words: str
    torch: str  # "" for every version, else such as ">=2.10"

    def holds_for(self, version: str) -> bool:
        if not self.torch:
            return True
        op, want = re.fullmatch(r"([<>=]+)(.*)", self.torch).groups()  # type: ignore[union-attr]
        have, bound = _numbers(version), _numbers(want)
        return {">=": have >= bound, "<=": have <= bound, "==": have == bound, "<": have < bound, ">": have > bound}[op]


def _numbers(version: str) -> tuple[int, int]:
    major, minor = re.match(r"(\d+)\.(\d+)", version).groups()  # type: ignore[union-attr]
    return int(major), int(minor)


def expectations(path: Path) -> list[Expectation]:
    """What the fixture's lines say: ``# expect: CODE [torch>=2.x] [words] [; CODE ...]``."""
    found = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        match = _EXPECT.search(text)
        if not match:
            continue
        for item in match["items"].split(";"):
            parts = _ITEM.fullmatch(item.strip())
            if parts is None:
                raise ValueError(f"{path}:{number}: not an expectation: {item.strip()!r}")
            bound = parts["op"] + parts["version"] if parts["op"] else ""
            found.append(Expectation(number, parts["code"], (parts["words"] or "").strip(), bound))
    return found


def demo_expectations() -> set[tuple[str, int, str]]:
    """File, line and code of what must be said about fixtures/demo. A newcomer reads the demo: it carries no marks."""
    found = set()
    for row in (Path(__file__).parent / "demo_expected.txt").read_text(encoding="utf-8").splitlines():
        path, code, source = row.split(" ", 2)
        lines = (FIXTURES / "demo" / path).read_text(encoding="utf-8").splitlines()
        [number] = [number for number, line in enumerate(lines, 1) if line.strip() == source]
        found.add((path, number, code))
    return found


@dataclass(frozen=True)
class Break:
    file: str
    line: int
    gb: str
    kind: str


@dataclass
class Verdict:
    """What happened, with files relative to the fixture's root."""

    breaks: list[Break] = field(default_factory=list)
    errors: list[Break] = field(default_factory=list)  # a compiled call that raised: gb is the exception's name
    executed: dict[str, set[int]] = field(default_factory=dict)
    compiles: Counter[str] = field(default_factory=Counter)  # per code object: "file:line name"
    reasons: list[str] = field(default_factory=list)

    def lines(self, file: str) -> set[int]:
        return {b.line for b in (*self.breaks, *self.errors) if b.file == file}

    @property
    def most_compiles(self) -> int:
        return max(self.compiles.values(), default=0)


# --- Dynamo's own words ---------------------------------------------------------------------------------------------

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)', re.M)


def _innermost(text: str, root: Path) -> tuple[str, int] | None:
    """The last frame of a traceback that lies in the fixture."""
    found = None
    for match in _FRAME.finditer(text):
        file = Path(match["file"])
        if file.is_relative_to(root):
            found = str(file.relative_to(root)), int(match["line"])
    return found


def _parse_break(text: str, root: Path) -> Break | None:
    head, _, stack = text.partition("User code traceback:")
    # What follows a blank line is Dynamo's own traceback.
    where = _innermost(re.split(r"\n\s*\n", stack, maxsplit=1)[0], root)
    if where is None:
        at = re.search(r"Graph break in user code at (?P<file>.+):(?P<line>\d+)", head)
        if at is None or not Path(at["file"]).is_relative_to(root):
            return None
        where = str(Path(at["file"]).relative_to(root)), int(at["line"])
    gb = re.search(r"/gb(\d{4})\.html", text)
    kind = re.search(r"^(?:Graph Break Reason: )?(?P<kind>\S.*)\n  Explanation:", head, re.M)
    return Break(*where, f"GB{gb[1]}" if gb else "", kind["kind"].removeprefix("Graph Break Reason: ") if kind else "")


class _Trace(logging.Handler):
    """Listens to the structured trace: explain() and the counters do not see every break."""

    def __init__(self, root: Path, verdict: Verdict) -> None:
        super().__init__()
        self.root, self.verdict = root, verdict

    def emit(self, record: logging.LogRecord) -> None:
        artifact = (getattr(record, "metadata", None) or {}).get("artifact") or {}
        payload = getattr(record, "payload", None)
        text = payload() if callable(payload) else payload
        if artifact.get("name") == "dynamo_graph_break_reason":
            found = _parse_break(str(text), self.root)
            if found is not None and found not in self.verdict.breaks:
                self.verdict.breaks.append(found)
        elif artifact.get("name") == "recompile_reasons":
            self.verdict.reasons.append(str(text))


@contextlib.contextmanager
def _listening(root: Path, verdict: Verdict) -> Iterator[None]:
    trace, handler = logging.getLogger("torch.__trace"), _Trace(root, verdict)
    before = trace.level, trace.propagate
    trace.addHandler(handler)
    trace.setLevel(logging.DEBUG)
    trace.propagate = False
    try:
        yield
    finally:
        trace.removeHandler(handler)
        trace.level, trace.propagate = before


# --- running a fixture ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _compiling_with(backend: str) -> Iterator[None]:
    """Every torch.compile in the fixture uses `backend`; modes and options are for Inductor, which is not asked."""
    import torch

    real = torch.compile

    def compile(model: Any = None, **kwargs: Any) -> Any:
        kwargs.pop("mode", None)
        kwargs.pop("options", None)
        kwargs["backend"] = backend
        return functools.partial(compile, **kwargs) if model is None else real(model, **kwargs)

    torch.compile = compile  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.compile = real


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """The fixture's own modules are importable, and forgotten afterwards: demo and twin use the same names."""
    known = set(sys.modules)
    sys.path[:0] = [str(root), str(VENDOR)]
    import torch._dynamo

    # Programs set Dynamo's switches where they are imported, as their users do.
    settings = {
        name: type(value)(value) if isinstance(value, (set, list, dict)) else value  # some are added to in place
        for name, value in torch._dynamo.config.get_config_copy().items()
    }
    try:
        yield
    finally:
        torch._dynamo.config.load_config(settings)
        del sys.path[:2]
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).is_relative_to(root):
                del sys.modules[name]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    dynamo = logging.getLogger("torch._dynamo")
    level = dynamo.level
    dynamo.setLevel(logging.CRITICAL)
    try:
        said = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            warnings.simplefilter("ignore")
            yield
    finally:
        dynamo.setLevel(level)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fixture_" + path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look the module up
    spec.loader.exec_module(module)
    return module


def _seed() -> None:
    import torch

    torch.manual_seed(0)
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(0)


def steps(path: Path, module: ModuleType, entry: str | None = None) -> list[Callable[[], object]]:
    """What the fixture does, one statement of its `main` after the other: one that raises does not hide the next."""
    if entry is not None:
        program, calls = getattr(module, entry)()
        return [functools.partial(program, *args) for args in calls]
    if hasattr(module, "get_inputs"):
        program = _compiled(module.Model(*module.get_init_inputs()))
        return [functools.partial(program, *module.get_inputs())]
    (main,) = (n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef) and n.name == "main")
    code = [compile(ast.Module([statement], []), str(path), "exec") for statement in main.body]
    return [functools.partial(exec, each, module.__dict__) for each in code]


def outputs(path: Path) -> list[Any]:
    """What the calls in the fixture's `main` give, uncompiled."""
    import torch

    path = path.resolve()
    found: list[Any] = []
    with _quiet(), _alone(path.parent), torch.compiler.set_stance("force_eager"):
        _seed()
        module = _load(path)
        if hasattr(module, "get_inputs"):
            return [step() for step in steps(path, module)]
        (main,) = (n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef) and n.name == "main")
        tree = ast.fix_missing_locations(ast.Module([_Kept().visit(statement) for statement in main.body], []))
        exec(compile(tree, str(path), "exec"), {**module.__dict__, _Kept.name: found.append})
    return found


class _Kept(ast.NodeTransformer):
    """`f(x)` as a statement, with its value kept."""

    name = "__kept"

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        return ast.Expr(ast.Call(ast.Name(self.name, ast.Load()), [node.value], []))


def _compiled(program: Any) -> Callable[..., Any]:
    import torch

    return torch.compile(program)  # type: ignore[no-any-return]


def _executed(path: Path, root: Path, entry: str | None) -> dict[str, set[int]]:
    """The lines an eager run of the fixture executes. A fixture that fails in eager mode is no fixture."""
    import torch

    seen: dict[str, set[int]] = {}

    def tracer(frame: FrameType, event: str, _arg: object) -> Any:
        if not frame.f_code.co_filename.startswith(str(root)):
            return None
        if event == "line":
            seen.setdefault(str(Path(frame.f_code.co_filename).relative_to(root)), set()).add(frame.f_lineno)
        return tracer

    with torch.compiler.set_stance("force_eager"):
        _seed()
        todo = steps(path, _load(path), entry)
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            for step in todo:
                step()
        finally:
            sys.settrace(before)
    return seen


def judge(path: Path, *, backend: str = "eager", entry: str | None = None) -> Verdict:
    """Run one fixture (or one entry of it) eagerly and then under Dynamo, with default configuration."""
    import torch
    import torch._dynamo.utils as dynamo_utils

    from tclint.verify.child.serve import unmeasured

    unmeasured()
    path = path.resolve()
    root = path.parent
    verdict = Verdict()
    with _quiet(), _alone(root), _compiling_with(backend):
        verdict.executed = _executed(path, root, entry)
        torch._dynamo.reset()
        dynamo_utils.clear_compilation_metrics()
        _seed()
        with _listening(root, verdict):
            for step in steps(path, _load(path), entry):
                try:
                    step()
                except Exception as error:
                    _, _, stack = str(error).partition("from user code:")
                    where = _innermost(stack or str(error), root)
                    if where is None:
                        raise
                    kind = (str(error).strip().splitlines() or [""])[0]
                    verdict.errors.append(Break(*where, type(error).__name__, kind))
        for metrics in dynamo_utils.get_compilation_metrics():
            # A compiled `optimizer.step` is code of torch: what recompiles then lies there.
            for folder in (root, Path(torch.optim.__file__).parent):
                if metrics.co_filename and Path(metrics.co_filename).is_relative_to(folder):
                    file = Path(metrics.co_filename).relative_to(folder)
                    verdict.compiles[f"{file}:{metrics.co_firstlineno} {metrics.co_name}"] += 1
        torch._dynamo.reset()
    return verdict


def run_entry(path: Path, entry: str, *args: Any) -> Any:
    """Call one function of a fixture, with every torch.compile in it on the eager backend."""
    import torch

    path = path.resolve()
    with _quiet(), _alone(path.parent), _compiling_with("eager"):
        torch._dynamo.reset()
        _seed()
        answer = getattr(_load(path), entry)(*args)
        torch._dynamo.reset()
    return answer


def run_main(path: Path, device: str) -> list[float]:
    return [float(value) for value in run_entry(path, "main", device)]


# --- on a CUDA device -----------------------------------------------------------------------------------------------


def cuda_outcome(path: Path) -> dict[str, str]:
    """Run a CUDA-graph fixture for real: Inductor, and the mode it asks for. Spoils the process for anything else."""
    import torch
    from torch._dynamo.utils import counters

    path = path.resolve()
    with _alone(path.parent), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = _load(path)
        run = module.main if hasattr(module, "main") else functools.partial(_reduce_overhead, module)
        sizes, recordings = _SizesEar(), _counted_recordings()
        _seed()
        try:
            got, outcome, detail = run("cuda"), "", ""
            torch.cuda.synchronize()
        except Exception as error:
            outcome = "overwritten" if "overwritten by a subsequent" in str(error) else "error"
            detail = f"{type(error).__name__}: {error}"[:300]
        else:
            inductor = dict(counters["inductor"])
            slow = [str(w.message) for w in caught if "fast path" in str(w.message)]
            if inductor.get("cudagraph_skips"):
                outcome, detail = "skip", str(inductor)
            elif inductor.get("cudagraph_partitions", 1) > 1:
                outcome, detail = "partition", str(inductor)
            elif sizes.recorded > 3:
                outcome, detail = "rerecord", f"a CUDA graph for each of {sizes.recorded} sizes"
            elif max(recordings.values(), default=0) > 3:
                outcome, detail = "rerecord", f"one function was recorded {max(recordings.values())} times"
            elif slow:
                outcome, detail = "slow", slow[0]
            else:
                want = _reference(module, run)
                outcome = "fine" if torch.allclose(torch.tensor(got), torch.tensor(want), 1e-3, 1e-3) else "wrong"
                detail = f"{got} for {want}"
    return {"label": module.OUTCOME, "outcome": outcome, "detail": detail}


def _counted_recordings() -> Counter[object]:
    """How often each function is recorded from now on: a parameter or a buffer elsewhere needs a recording of its own."""
    from torch._inductor import cudagraph_trees

    counts: Counter[object] = Counter()
    made = cudagraph_trees.CUDAGraphNode.__init__

    def counted(node: Any, function: Any, *args: Any, **kwargs: Any) -> None:
        counts[function.id] += 1
        made(node, function, *args, **kwargs)

    cudagraph_trees.CUDAGraphNode.__init__ = counted  # type: ignore[method-assign]
    return counts


class _SizesEar(logging.Handler):
    """Counts the sizes that a CUDA graph is recorded for: Inductor says so in a log nobody reads."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.recorded = 0
        logger = logging.getLogger("torch._inductor.cudagraph_trees.__cudagraphs")
        logger.addHandler(self)
        logger.setLevel(logging.DEBUG)

    def emit(self, record: logging.LogRecord) -> None:
        self.recorded += "recording cudagraph tree for symint key" in record.getMessage().lower()


def _reduce_overhead(module: ModuleType, device: str) -> list[float]:
    import torch

    model = torch.compile(module.Model(*module.get_init_inputs()).to(device), mode="reduce-overhead")
    args = [arg.to(device) if torch.is_tensor(arg) else arg for arg in module.get_inputs()]
    with torch.no_grad():
        return [float(model(*args).sum()) for _ in range(4)]


def _reference(module: ModuleType, run: Callable[[str], list[float]]) -> list[float]:
    import torch

    _seed()
    if hasattr(module, "reference"):
        return list(module.reference("cuda"))
    if "CUDAGraph(" in Path(str(module.__file__)).read_text():
        return run("cuda")
    with torch.compiler.set_stance("force_eager"):
        return run("cuda")


def main(paths: list[str]) -> None:
    for name in paths:
        path = Path(name).resolve()
        backend = "eager" if re.match(r"TCL[13]", path.parent.name) else "aot_eager"
        wanted = {e.line: e.code for e in expectations(path)}
        print(f"== {path.parent.name}/{path.name}")
        try:
            verdict = judge(path, backend=backend)
        except Exception as error:
            print(f"   does not run: {type(error).__name__}: {str(error)[:300]}")
            continue
        source = path.read_text().splitlines()
        for line in sorted({*wanted, *verdict.lines(path.name)}):
            told = [b for b in (*verdict.breaks, *verdict.errors) if (b.file, b.line) == (path.name, line)]
            sign = "ok " if told and line in wanted else "-  " if line in wanted else "+  "
            print(f"   {sign}{line:4} {wanted.get(line, '')} {source[line - 1].strip()[:80]}")
            for b in told:
                print(f"          {b.gb} {b.kind[:110]}")
        if backend != "eager":
            print("   compiles:", dict(verdict.compiles))
            for reason in verdict.reasons[:9]:
                print("     ", reason.splitlines()[0][:150])


if __name__ == "__main__":
    if sys.argv[1] == "--cuda":
        for argument in sys.argv[2:]:
            print(json.dumps(cuda_outcome(Path(argument))))
    else:
        main(sys.argv[1:])
