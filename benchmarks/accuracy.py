"""How often tclint and TorchDynamo agree.

    python benchmarks/accuracy.py                            # fixtures and installed models, under Dynamo here and now
    python benchmarks/accuracy.py --json benchmarks/accuracy.json
    python benchmarks/accuracy.py --save-truth truth.json    # keep the truth about the models
    python benchmarks/accuracy.py --truth truth.json.gz --findings findings.json

Truth about models is made by running them, from small random configurations, under `torch.compile` with Dynamo's
structured trace on: every graph break with its file and line, and the lines that an eager run executes. Models of
libraries that are not installed are left out. Needs torch, except with --truth.

A break site is one (file, line). It is found when a finding with the effect graph-break spans the line. A finding
counts against precision only where a run executed its lines, and not where that run broke on another line of the same
function: Dynamo may have left the frame before it got there. Findings of low confidence are not shown by default and
do not count.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gzip
import importlib
import importlib.util
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

RANK = {"low": 0, "medium": 1, "high": 2}

TIMM = [
    "resnet18",
    "resnetv2_50",
    "convnext_atto",
    "convnextv2_atto",
    "efficientnet_b0",
    "mobilenetv3_small_050",
    "vit_tiny_patch16_224",
    "deit_tiny_patch16_224",
    "swin_tiny_patch4_window7_224",
    "mixer_s32_224",
    "regnetx_002",
    "ghostnet_050",
    "levit_128s",
    "poolformer_s12",
    "crossvit_tiny_240",
    "coat_lite_tiny",
    "edgenext_xx_small",
    "mobilevit_xxs",
    "repvgg_a0",
    "beit_base_patch16_224",
]

SMALL: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
BART: dict[str, Any] = {
    "vocab_size": 64,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
T5: dict[str, Any] = {
    "vocab_size": 64,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}
GPT2: dict[str, Any] = {"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
IMAGE: dict[str, Any] = {**SMALL, "image_size": 32, "patch_size": 8}
WAV: dict[str, Any] = {**SMALL, "conv_dim": [16] * 7, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2}

# model type -> small configuration, kind of input
TRANSFORMERS: dict[str, tuple[dict[str, Any], str]] = {
    "bert": (SMALL, "text"),
    "albert": ({**SMALL, "embedding_size": 32}, "text"),
    "distilbert": ({"vocab_size": 64, "dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4}, "text"),
    "gpt2": (GPT2, "text"),
    "opt": ({**SMALL, "ffn_dim": 64, "word_embed_proj_dim": 32}, "text"),
    "llama": (SMALL, "text"),
    "mistral": (SMALL, "text"),
    "qwen2": (SMALL, "text"),
    "mixtral": ({**SMALL, "num_local_experts": 4}, "text"),
    "bart": (BART, "both"),
    "mbart": (BART, "both"),
    "t5": (T5, "both"),
    "vit": (IMAGE, "image"),
    "wav2vec2": (WAV, "audio"),
    "hubert": (WAV, "audio"),
}


# --- scoring ----------------------------------------------------------------------------------------------------------


@dataclass
class Score:
    """One row of the result."""

    what: str
    sites: int = 0
    found: int = 0
    right: int = 0
    wrong: int = 0
    not_run: int = 0
    behind: int = 0
    misses: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float | None:
        return self.found / self.sites if self.sites else None

    @property
    def precision(self) -> float | None:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    def row(self) -> dict[str, Any]:
        kept = {"what": self.what, "sites": self.sites, "found": self.found, "recall": self.recall, "right": self.right}
        return {**kept, "judged": self.right + self.wrong, "precision": self.precision}


def score(what: str, truth: dict[str, Any], findings: Iterable[dict[str, Any]], least: str = "medium") -> Score:
    """Findings of graph breaks against the runs of a truth file."""
    sites: dict[tuple[str, int], str] = {}
    ran: dict[str, set[int]] = defaultdict(set)
    broken: dict[str, set[str]] = defaultdict(set)
    for run in truth["runs"]:
        for file, lines in (run.get("traced") or run["covered"]).items():
            ran[file].update(lines)
        for each in run["breaks"]:
            # A follow-on is a consequence of a break already counted.
            if each.get("file") and not each.get("follow_on"):
                sites.setdefault((each["file"], each["line"]), each.get("gid") or "")
                broken[each["file"]].add(_last(each.get("function") or each.get("name")))
    result = Score(what, sites=len(sites))
    hit: set[tuple[str, int]] = set()
    right: set[tuple[str, int]] = set()
    for finding in findings:
        if finding.get("effect") != "graph-break" or RANK[finding.get("confidence", "high")] < RANK[least]:
            continue
        file = os.path.normpath(finding["path"])
        spanned = range(finding["line"], (finding.get("end_line") or finding["line"]) + 1)
        here = {(file, line) for line in spanned} & sites.keys()
        if here:
            hit |= here
            right.add((file, finding["line"]))
        elif not ran[file].intersection(spanned):
            result.not_run += 1
        elif _last(finding.get("function")) in broken[file]:
            result.behind += 1
        else:
            result.wrong += 1
            result.false.append(f"{file}:{finding['line']} {finding['code']} {finding.get('message', '')[:90]}")
    result.found, result.right = len(hit), len(right)
    result.misses = [f"{file}:{line} {gb}" for (file, line), gb in sorted(sites.items()) if (file, line) not in hit]
    return result


def _last(name: str | None) -> str:
    return (name or "<unknown>").rpartition(".")[2]


def findings_in(folder: Path, *paths: str) -> list[dict[str, Any]]:
    """What tclint says about paths below a folder."""
    command = [sys.executable, "-m", "tclint", *paths, "--isolated", "--no-cache", "--exit-zero", "--no-project"]
    with tempfile.TemporaryDirectory() as scratch:
        answer = Path(scratch, "findings.json")
        subprocess.run(
            [*command, "--output-format", "json", "-o", str(answer)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
        )
        found: list[dict[str, Any]] = json.loads(answer.read_text())["findings"]
        return found


# --- the fixtures -----------------------------------------------------------------------------------------------------


def fixture_scores() -> list[Score]:
    """Graph breaks by family of rules' fixtures, judged by Dynamo; recompiles by what the judge counts."""
    import judge
    from lintkit import with_callers

    breaks = {"runs": []}  # type: dict[str, Any]
    recompiles = Score("fixtures, recompiles")
    said_about_breaks: list[dict[str, Any]] = []
    for path in sorted((ROOT / "fixtures" / "rules").glob("TCL[12]*/*.py")):
        name = f"{path.parent.name}/{path.name}"
        with tempfile.TemporaryDirectory() as scratch:
            Path(scratch, path.name).write_text(with_callers(path.read_text()))
            said = [{**f, "path": name} for f in findings_in(Path(scratch), path.name)]
        if path.parent.name.startswith("TCL1"):
            verdict = judge.judge(path)
            told = [
                {"file": name, "line": b.line, "gid": b.gb, "name": _function_at(path, b.line)} for b in verdict.breaks
            ]
            breaks["runs"].append({"breaks": told, "covered": {name: sorted(verdict.executed.get(path.name, ()))}})
            said_about_breaks += said
        else:
            _count_recompiles(path, name, said, recompiles)
    return [score("fixtures, graph breaks", breaks, said_about_breaks), recompiles]


def _count_recompiles(path: Path, name: str, said: list[dict[str, Any]], result: Score) -> None:
    import judge

    flagged = {f["line"] for f in said if f["effect"] == "recompile" and RANK[f["confidence"]] >= RANK["medium"]}
    marked = {e.line for e in judge.expectations(path) if e.code.startswith("TCL2")}
    verdict = judge.judge(path, backend="aot_eager")
    twin = path.with_name(path.name.replace("bad_", "good_"))
    settled = judge.judge(twin, backend="aot_eager").most_compiles if path.stem.startswith("bad_") else 2
    # The fixture's marks count only as far as the compiler bears them out.
    true = marked if verdict.most_compiles >= settled + 2 else set()
    result.sites += len(true)
    result.found += len(true & flagged)
    result.right += len(true & flagged)
    result.wrong += len(flagged - true)
    result.misses += [f"{name}:{line}" for line in sorted(true - flagged)]
    result.false += [f"{name}:{line}" for line in sorted(flagged - true)]


@cache
def _functions(path: Path) -> list[tuple[int, int, str]]:
    tree = ast.parse(path.read_bytes())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(n.lineno, n.end_lineno or n.lineno, n.name) for n in ast.walk(tree) if isinstance(n, kinds)]


def _function_at(path: Path, line: int) -> str:
    around = [f for f in _functions(path) if f[0] <= line <= f[1]]
    return max(around)[2] if around else "<module>"


# --- models -----------------------------------------------------------------------------------------------------------


def timm_models() -> Iterator[tuple[str, Callable[[], tuple[Any, dict[str, Any]]]]]:
    import timm
    import torch

    known = set(timm.list_models())
    for name in TIMM:
        if name not in known:
            continue

        def build(name: str = name) -> tuple[Any, dict[str, Any]]:
            model = timm.create_model(name, pretrained=False, num_classes=10)
            size = model.default_cfg.get("input_size", (3, 224, 224))
            return model, {"x": torch.randn(2, *size)}

        yield name, build


def transformers_models() -> Iterator[tuple[str, Callable[[], tuple[Any, dict[str, Any]]]]]:
    import torch
    from transformers import AutoConfig, AutoModel

    def inputs(kind: str) -> dict[str, Any]:
        ids = torch.randint(3, 60, (2, 8))
        return {
            "text": {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
            "both": {"input_ids": ids, "decoder_input_ids": ids},
            "image": {"pixel_values": torch.randn(2, 3, 32, 32)},
            "audio": {"input_values": torch.randn(2, 4000)},
        }[kind]

    for name, (small, kind) in TRANSFORMERS.items():

        def build(name: str = name, small: dict[str, Any] = small, kind: str = kind) -> tuple[Any, dict[str, Any]]:
            return AutoModel.from_config(AutoConfig.for_model(name, **small)), inputs(kind)

        yield name, build


# "Missing tp_iternext": what is left of an iterator after a break in its loop.
CONSEQUENCES = frozenset({"GB4347"})
LIBRARIES = {"timm": timm_models, "transformers": transformers_models}


class _Breaks(logging.Handler):
    """Graph breaks from the structured trace, at the innermost line of the library."""

    def __init__(self, site_packages: Path, library: str) -> None:
        super().__init__()
        self.site_packages, self.library = site_packages, library
        self.found: dict[tuple[str, int], dict[str, Any]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        artifact = (getattr(record, "metadata", None) or {}).get("artifact") or {}
        payload = getattr(record, "payload", None)
        if artifact.get("name") == "dynamo_graph_break_reason":
            self.add(str(payload() if callable(payload) else payload))

    def add(self, text: str) -> None:
        _, _, stack = text.partition("User code traceback:")
        frames = re.findall(
            r'^\s*File "([^"]+)", line (\d+), in (\S+)', re.split(r"\n\s*\n", stack, maxsplit=1)[0], re.M
        )
        own = [f for f in frames if Path(f[0]).is_relative_to(self.site_packages / self.library)]
        if not own:
            return
        file, line, function = own[-1]
        name = str(Path(file).relative_to(self.site_packages))
        gb = re.search(r"/gb(\d{4})\.html", text)
        row = {"file": name, "line": int(line), "name": function, "gid": f"GB{gb[1]}" if gb else ""}
        if row["gid"] in CONSEQUENCES and self.found:
            row["follow_on"] = True
        self.found.setdefault((name, int(line)), row)


@contextlib.contextmanager
def _listening(handler: logging.Handler) -> Iterator[None]:
    trace = logging.getLogger("torch.__trace")
    before = trace.level, trace.propagate
    trace.addHandler(handler)
    trace.setLevel(logging.DEBUG)
    trace.propagate = False
    try:
        yield
    finally:
        trace.removeHandler(handler)
        trace.level, trace.propagate = before


def _executed(call: Callable[[], object], site_packages: Path, library: str) -> dict[str, list[int]]:
    start = str(site_packages / library) + os.sep
    seen: dict[str, set[int]] = defaultdict(set)

    def tracer(frame: FrameType, event: str, arg: object) -> Any:
        if not frame.f_code.co_filename.startswith(start):
            return None
        if event == "line":
            seen[os.path.relpath(frame.f_code.co_filename, site_packages)].add(frame.f_lineno)
        return tracer

    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(None)
    return {file: sorted(lines) for file, lines in seen.items()}


def model_truth(library: str, only: set[str]) -> tuple[dict[str, Any], Path] | None:
    """Every model of a library that can be built, once in training and once in evaluation."""
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package = importlib.import_module(library)
            models = list(LIBRARIES[library]())
    except Exception as error:  # a library that is half installed fails in any way it likes
        print(f"{library} is left out: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    site_packages = Path(str(package.__file__)).resolve().parent.parent
    logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
    runs = []
    for name, build in models:
        if only and name not in only:
            continue
        for mode in ("eval", "train"):
            try:
                runs.append(_run(library, name, mode, build, site_packages))
            except Exception as error:
                print(
                    f"{library} {name} {mode} is left out: {type(error).__name__}: {str(error)[:120]}", file=sys.stderr
                )
            torch._dynamo.reset()
    versions = {"torch": torch.__version__, library: getattr(package, "__version__", "")}
    return {"versions": versions, "runs": runs}, site_packages


def _touched(truth: dict[str, Any]) -> list[str]:
    """What to lint: the folders whose files ran, and the files of the library's top level that did."""
    covered = {Path(file) for run in truth["runs"] for file in run["covered"]}
    return sorted({str(file if len(file.parts) <= 2 else file.parent) for file in covered})


def _run(library: str, name: str, mode: str, build: Callable[[], Any], site_packages: Path) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, inputs = build()
        model.train(mode == "train")
        with torch.set_grad_enabled(mode == "train"):
            covered = _executed(lambda: model(**inputs), site_packages, library)
            handler = _Breaks(site_packages, library)
            torch._dynamo.reset()
            with _listening(handler):
                torch.compile(model, backend="eager")(**inputs)
    breaks = [handler.found[key] for key in sorted(handler.found)]
    print(f"{library} {name} {mode}: {len(breaks)} breaks", file=sys.stderr)
    return {"lib": library, "model": name, "mode": mode, "breaks": breaks, "covered": covered}


# --- the command ------------------------------------------------------------------------------------------------------


def load(path: Path) -> Any:
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as stream:
        return json.load(stream)


def show(scores: list[Score], most: int) -> None:
    print(f"{'':<28}{'sites':>7}{'found':>7}{'recall':>9}{'right':>7}{'wrong':>7}", end="")
    print(f"{'precision':>11}{'not run':>9}{'behind':>8}")
    for each in scores:
        recall = "-" if each.recall is None else f"{each.recall:.1%}"
        precision = "-" if each.precision is None else f"{each.precision:.1%}"
        print(f"{each.what:<28}{each.sites:>7}{each.found:>7}{recall:>9}{each.right:>7}{each.wrong:>7}", end="")
        print(f"{precision:>11}{each.not_run:>9}{each.behind:>8}")
    for each in scores:
        for title, places in (("missed", each.misses), ("wrong", each.false)):
            for place in places[:most]:
                print(f"  {title}: {each.what}: {place}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path, help="score against this file instead of running anything")
    parser.add_argument("--findings", type=Path, help="what tclint said, as JSON, about the folder of --truth")
    parser.add_argument("--min-confidence", choices=list(RANK), default="medium")
    parser.add_argument("--libraries", default="timm,transformers", help="comma-separated; empty for none")
    parser.add_argument("--models", default="", help="only these, comma-separated")
    parser.add_argument("--no-fixtures", action="store_true")
    parser.add_argument("--save-truth", type=Path, metavar="FILE")
    parser.add_argument("--details", type=int, default=0, metavar="N", help="show so many misses and wrong findings")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result for the README")
    args = parser.parse_args()
    scores: list[Score] = []
    setting = ""
    if (args.truth is None) != (args.findings is None):
        parser.error("--truth and --findings go together")
    if args.truth is not None:
        truth, found = load(args.truth), load(args.findings)
        found = found["findings"] if isinstance(found, dict) else found
        runs: dict[str, list[Any]] = defaultdict(list)
        for run in truth["runs"]:
            runs[run.get("lib") or "all"].append(run)
        if len(runs) > 1:
            for library, some in sorted(runs.items()):
                own = [f for f in found if f["path"].startswith(library + "/")]
                scores.append(score(f"{library} models", {"runs": some}, own, args.min_confidence))
        scores.append(score("all models", truth, found, args.min_confidence))
        setting = ", ".join(f"{name} {version}" for name, version in (truth.get("versions") or {}).items())
    else:
        import torch

        setting = f"torch {torch.__version__}"
        if not args.no_fixtures:
            scores += fixture_scores()
        only = {name for name in args.models.split(",") if name}
        kept: dict[str, Any] = {"versions": {}, "runs": []}
        for library in filter(None, args.libraries.split(",")):
            made = model_truth(library, only)
            if made is None or not made[0]["runs"]:
                continue
            truth, folder = made
            said = findings_in(folder, *_touched(truth))
            scores.append(score(f"{library} models", truth, said, args.min_confidence))
            setting += f", {library} {truth['versions'][library]}: {len(truth['runs'])} runs"
            kept["versions"] |= truth["versions"]
            kept["runs"] += truth["runs"]
        if args.save_truth is not None:
            args.save_truth.write_text(json.dumps(kept))
    show(scores, args.details)
    if args.json is not None:
        rows = [each.row() for each in scores]
        details = [asdict(each) for each in scores]
        args.json.write_text(json.dumps({"rows": rows, "details": details, "setting": setting + "."}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
