"""One diagnostic in the child process: finds the target, measures, answers in plain data.

Only files named `child*.py` import torch; they run in verify's child processes and nowhere else.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from tclint.diagnose.child.target import NotApplicable, NoTarget, Subject, subject_of
from tclint.diagnose.child.turn import Turn
from tclint.diagnose.order import Order
from tclint.diagnose.shortening import shortened
from tclint.model import codec
from tclint.verify.child.experiments import EagerFailed

Measure = Callable[[Subject], Any]


def _measures() -> Mapping[str, Measure]:
    from tclint.diagnose.child.breaks import measure_breaks
    from tclint.diagnose.child.cost import measure_cost
    from tclint.diagnose.child.latency import measure_latency
    from tclint.diagnose.child.modes import measure_modes
    from tclint.diagnose.child.numerics import measure_numerics
    from tclint.diagnose.child.shapes import measure_shapes
    from tclint.diagnose.child.speed import measure_ablate, measure_guards, measure_speed

    return {
        "breaks": measure_breaks,
        "speed": measure_speed,
        "shapes": measure_shapes,
        "latency": measure_latency,
        "modes": measure_modes,
        "guards": measure_guards,
        "ablate": measure_ablate,
        "numerics": measure_numerics,
        "cost": measure_cost,
    }


def measure(data: Mapping[str, Any], save: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The answer to an order: a result, or in words why there is none. `save` keeps what is known so far."""
    order = codec.decode(Order, data, "order")
    began = time.monotonic()
    told: dict[str, Any] = {"torch": torch.__version__, "python": sys.version.split()[0], "status": "failed"}
    if order.device.startswith("cuda"):
        if not torch.cuda.is_available():
            return {**told, "words": "torch sees no CUDA device here"}
        told["gpu"] = torch.cuda.get_device_name()
        from tclint.diagnose.child import kernels

        kernels.start(order.diagnostic)
    torch.set_num_threads(max(1, order.threads))
    turn = Turn(order.turn, order.ahead)
    try:
        subject = subject_of(order)
        told |= {
            "inputs": subject.example.source,
            "parameters": subject.parameters,
            "file": subject.file,
            "sources": subject.sources(),
            "built_s": time.monotonic() - began,
        }

        def keep(part: Any) -> None:
            # What comes after may raise, or end the process: what is known by then is told all the same.
            told.update(result=codec.encode(part), status="done")
            save(told)

        def share(eager: Callable[[], Any], compiled: Callable[[], Any]) -> None:
            for name in order.also:
                told.setdefault("also", {})[name] = _shared(name, subject, eager, compiled)
            save(told)

        subject = replace(subject, save=keep, share=share, turn=turn)
        told |= {"result": codec.encode(_measures()[order.diagnostic](subject)), "status": "done", "words": ""}
        told["sources"] = subject.sources()
    except NoTarget as error:
        told["words"] = str(error)
    except NotApplicable as error:
        told |= {"status": "not applicable", "words": str(error)}
    except EagerFailed as failed:
        told["words"] = f"the target does not run in eager mode: {failed.fault.kind}: {_line(failed.fault.message)}"
    except (Exception, SystemExit) as error:
        # Becomes this diagnostic's row; the whole traceback is in the child's output.
        traceback.print_exc()
        told["words"] = f"{type(error).__name__}: {_line(str(error))}"
    told["seconds"] = time.monotonic() - began
    return told


def _shared(name: str, subject: Subject, eager: Callable[[], Any], compiled: Callable[[], Any]) -> dict[str, Any]:
    """The answer of another diagnostic, from steps that are warm."""
    from tclint.diagnose.child.numerics import outputs_of
    from tclint.diagnose.child.speed import guards_of

    try:
        result = guards_of(subject, compiled) if name == "guards" else outputs_of(eager, compiled)
    except NotApplicable as error:
        return {"status": "not applicable", "words": str(error)}
    except Exception as error:
        traceback.print_exc()
        return {"status": "failed", "words": f"{type(error).__name__}: {_line(str(error))}"}
    return {"status": "done", "result": codec.encode(result)}


def _line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return shortened(" ".join(lines[:2]))
