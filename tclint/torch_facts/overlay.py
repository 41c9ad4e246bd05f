"""What cannot be asked, written by hand: each entry with the releases where it holds and the reason why it is here.

An entry hides what the table says of the same name. A form is written as in the table (see `form`). `overlay.json` has
the effects that no run can show: what a call is for, what it needs a device for, what its documentation promises.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Entry:
    """Forms of a name by hand."""

    key: str
    forms: tuple[str, ...]
    reason: str
    first: int = 4
    last: int = 99

    def holds(self, release: int) -> bool:
        return self.first <= release <= self.last


_CUDA: Final = "needs a CUDA device; asked on 2.11 with an H200, which stands in for the other releases"
#: Name -> form, for what runs on a machine with a CUDA device only.
_ON_CUDA: Final[dict[str, tuple[str, ...]]] = {
    "module#cuda": ("module>module !GB0264",),
    "tensor#cuda": ("Tf2>Tf2", "Ti2>Ti2"),
    "tensor#pin_memory": ("Tf2>Tf2 ^TorchRuntimeError",),
    "tensor#record_stream": ("Tf2,object:torch.cuda.streams.Stream>none",),
    "torch.cuda.Event": (">object:torch.cuda.streams.Event",),
    "torch.cuda.Stream": (">object:torch.cuda.streams.Stream",),
    "torch.cuda.current_device": (">int",),
    "torch.cuda.current_stream": (">object:torch.cuda.streams.Stream",),
    "torch.cuda.default_stream": (">object:torch.cuda.streams.Stream !GB0208",),
    "torch.cuda.get_device_capability": (">tuple[int*]",),
    "torch.cuda.get_device_name": (">str !GB0208",),
    "torch.cuda.get_device_properties": ("int>object:torch._C._CudaDeviceProperties",),
    "torch.cuda.get_rng_state": (">Tj1 !GB0007",),
    "torch.cuda.is_current_stream_capturing": (">bool !GB0208",),
    "torch.cuda.max_memory_allocated": (">int !GB0208 u",),
    "torch.cuda.mem_get_info": (">tuple[int*] u",),
    "torch.cuda.memory_allocated": (">int !GB0208 u",),
    "torch.cuda.memory_reserved": (">int !GB0208 u",),
    "torch.cuda.nvtx.range_push": ("str>int !GB0208",),
    "torch.cuda.set_device": ("int>none !GB0007",),
    "torch.cuda.streams.Event#query": ("object:torch.cuda.streams.Event>bool",),
    "torch.cuda.streams.Event#record": ("object:torch.cuda.streams.Event>none ^RuntimeError",),
    "torch.cuda.streams.Stream#synchronize": ("object:torch.cuda.streams.Stream>none",),
}
_WAITS: Final = "asked on 2.11 with an H200, where it breaks, and on 2.13, which puts it into the graph; 2.12 is taken to be as 2.11"
_GROUP: Final = "needs a process group; asked on 2.13 with one process, which stands in for the other releases"
#: Name -> form, for what runs in a process group only.
_IN_A_GROUP: Final[dict[str, tuple[str, ...]]] = {
    "torch.distributed.barrier": (">none !GB0007",),
    "torch.distributed.broadcast": ("Tf2,int>none !GB0007 m:0",),
    "torch.distributed.gather": ("Tf2>none !GB0007",),
    "torch.distributed.new_group": (">object !GB0007",),
    "torch.distributed.reduce": ("Tf2,int>none !GB0007 m:0",),
    "torch.distributed.scatter": ("Tf2>none !GB0007 m:0",),
}
_PEERS: Final = "needs a process group; asked on 2.11 and 2.13 with one process; Dynamo refuses it by name since 2.12"
#: Name -> the form until 2.11, and the one since 2.12, for what passes between two processes of a group.
_BETWEEN_PEERS: Final[dict[str, tuple[str, str]]] = {
    "torch.distributed.P2POp": ("function,Tf2,int>object", "function,Tf2,int>object !GB1750"),
    "torch.distributed.batch_isend_irecv": ("list>list !GB0156", "list>list !GB9300"),
    "torch.distributed.irecv": ("Tf2,int>object !GB0156 m:0", "Tf2,int>object !GB2696 m:0"),
    "torch.distributed.isend": ("Tf2,int>object !GB0156", "Tf2,int>object !GB2696"),
}
_MADE: Final = (
    "asked with distributions that came in as arguments; those made in the region or held by it trace, on 2.4 to 2.15"
)
_ALONE: Final = "asked alone on 2.13: the asking of all releases found no arguments for it"
#: Name -> form, for what the asking could not call.
_NOT_CALLED: Final[dict[str, tuple[str, ...]]] = {
    "bytes#fromhex": ("bytes,str>bytes !GB0156",),
    "einops.unpack": ("Tf2,list[size*],str>list[Tf2*]",),
    "functools.lru_cache#cache_clear": ("function>none !GB0088",),
    "functools.lru_cache#cache_info": ("function>object !GB0088",),
    "gc.get_referrers": (">list !GB0007",),
    "importlib.__import__": ("str>namespace !GB0007",),
    "importlib.metadata.version": ("str>str",),
    "torch.jit.fork": ("function,Tf2>object !GB0007", "module,Tf2>object !GB0007"),
    "torch.jit.wait": ("object>Tf2 !GB0007",),
    "tensor#resize_as_": ("Tf2,Tf2>Tf2 !GB0148 m:self a:self s:self",),
}
_ADDRESS: Final = "the asking compares what came out: alone it is traced; what is done with it is in language.json"
_KINDS: Final = ("Tf2", "Ti2", "Tb2")
ENTRIES: Final[tuple[Entry, ...]] = (
    Entry("tensor#data_ptr", tuple(f"{kind}>int !GB0156 u" for kind in _KINDS), _ADDRESS, last=5),
    Entry("tensor#data_ptr", tuple(f"{kind}>int u" for kind in _KINDS), _ADDRESS, first=6),
    Entry("torch.distributions.kl_divergence", ("object,object>Tf2",), _MADE),
    *(Entry(key, forms, _CUDA) for key, forms in _ON_CUDA.items()),
    Entry("torch.cuda.synchronize", (">none !GB0007",), _WAITS, last=12),
    Entry("torch.cuda.synchronize", (">none",), _WAITS, first=13),
    *(Entry(key, forms, _GROUP) for key, forms in _IN_A_GROUP.items()),
    *(Entry(key, (until,), _PEERS, last=11) for key, (until, _) in _BETWEEN_PEERS.items()),
    *(Entry(key, (since,), _PEERS, first=12) for key, (_, since) in _BETWEEN_PEERS.items()),
    *(Entry(key, forms, _ALONE) for key, forms in _NOT_CALLED.items()),
)


@functools.cache
def _by_key() -> Mapping[str, tuple[Entry, ...]]:
    found: dict[str, tuple[Entry, ...]] = {}
    for item in ENTRIES:
        found[item.key] = (*found.get(item.key, ()), item)
    return found


def names() -> tuple[str, ...]:
    """The keys that have an entry."""
    return tuple(_by_key())


def entry(key: str, release: int) -> Entry | None:
    """The entry of a name that holds on a release."""
    return next((item for item in _by_key().get(key, ()) if item.holds(release)), None)


@dataclass(frozen=True)
class Part:
    """Names with an effect, on some releases."""

    names: tuple[str, ...]
    #: Why the effect cannot be asked.
    why: str
    first: int = 4
    last: int = 99


@functools.cache
def effects() -> Mapping[str, tuple[Part, ...]]:
    """The effects that are written by hand, and who has them."""
    written = json.loads(Path(__file__).with_name("overlay.json").read_text(encoding="utf-8"))["effects"]
    return {effect: tuple(_part(part) for part in parts) for effect, parts in written.items()}


def _part(part: Mapping[str, object]) -> Part:
    lines, why, since, until = part["names"], part["why"], part.get("since", "2.4"), part.get("until", "2.99")
    assert isinstance(lines, list)
    names = tuple(name for line in lines for name in line.split())
    first, last = (int(str(release).split(".")[1]) for release in (since, until))
    return Part(names, str(why), first, last)


@functools.cache
def named(effect: str, release: int | None = None) -> tuple[str, ...]:
    """The names with an effect, in the order they are written; without a release, those that have it on any."""
    parts = effects()[effect]
    return tuple(name for part in parts for name in part.names if release is None or part.first <= release <= part.last)
