"""Two warm-up steps in float32, then half, then bfloat16."""
import torch


@torch.compile
def mlp(x, w):  # recompile
    return torch.relu(x @ w)  # recompile


def main():
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        x = torch.randn(4, 4, dtype=dtype)
        w = torch.randn(4, 4, dtype=dtype)
        mlp(x, w)  # recompile


main()
