"""The same function is benchmarked in three dtypes."""
import torch


def bench(fn, dtype):
    x = torch.randn(8, 8).to(dtype)
    for _ in range(2):
        fn(x)


@torch.compile
def softmax(x):  # recompile
    return (x - x.amax(-1, keepdim=True)).exp() / x.exp().sum(-1, keepdim=True)


for dtype in [torch.float32, torch.bfloat16, torch.float64]:
    bench(softmax, dtype)  # recompile
