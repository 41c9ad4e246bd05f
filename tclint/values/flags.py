"""What is known of a tensor, as bits."""

from __future__ import annotations

from typing import Final

EXPANDED: Final = 1  # strides depend on whether an expanded size is 1
OWNED: Final = 2  # storage belongs to a CUDA graph: the next replay overwrites it
PARAMETER: Final = 4  # nn.Parameter or registered buffer
INPUT: Final = 8  # an argument of the compiled callable, or a view of one
DATA_SIZED: Final = 16  # its shape depends on values
HOST: Final = 32  # built on the CPU inside the region
STRIDED: Final = 64  # a view that is surely not contiguous
NEEDS_GRAD: Final = 128  # requires_grad was asked for
RAW: Final = 256  # not derived: a fresh input of the root
STATIC_OUT: Final = 512  # bound inside a manual CUDA-graph capture: `site` is the graph
SPARSE: Final = 1024  # a sparse layout
ARRAY: Final = 2048  # a numpy array, which Dynamo traces as a tensor
CONSTANT: Final = 4096  # built from constants alone: Dynamo can fold some reads
REPLAYED: Final = 8192  # bound inside a manual capture that was replayed since
STALE: Final = 16384  # owned by a CUDA graph that has run again since
PENDING: Final = 32768  # owned by a CUDA graph that waits for a backward pass before it runs again
NO_GRADIENT: Final = 65536  # made by a factory that was not asked for gradients, or computed from such tensors alone
GRADIENT_UNKNOWN: Final = 262144  # given by a module or compiled code: nobody knows whether it requires a gradient
BY_NAME: Final = 524288  # an argument that is a tensor by its name alone: who is given it may know better
FOLDED: Final = 1048576  # one number that was made a tensor, or computed from such alone: tracing knows its value
DRAWN: Final = 2097152  # a number that Python's `random` drew in the graph, where Dynamo holds it as a tensor
PINNED: Final = 131072  # its address is marked static: a CUDA graph may write to it

STEADY: Final = CONSTANT | FOLDED
"""What it is computed from is written in the source."""
GRAPHED: Final = OWNED | STATIC_OUT
"""In memory that a CUDA graph writes to."""
