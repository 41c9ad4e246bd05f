import itertools
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
fast = torch.compile(lambda x: net(x))  # recompile


def bench(dtypes, grads):
    results = {}
    for dtype, grad in itertools.product(dtypes, grads):
        with torch.set_grad_enabled(grad), torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            results[dtype, grad] = fast(torch.randn(4, 8)).sum().item()  # recompile
    return results


if __name__ == "__main__":
    bench([None, torch.bfloat16, torch.float16], [True, False])
