import torch
from torch import nn


@torch.compile
def project(x, w, b):  # recompile
    return torch.relu(torch.nn.functional.linear(x, w, b))


def main():
    torch.manual_seed(0)
    layer = nn.Linear(16, 16)
    x = torch.randn(4, 16)
    ref = project(x, layer.weight, layer.bias)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):  # recompile
            y = project(x, layer.weight, layer.bias)  # recompile
        print(dtype, (y.float() - ref).abs().max().item())


if __name__ == "__main__":
    main()
