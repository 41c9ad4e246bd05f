"""An output dtype argument cycles over four precisions in an ablation."""
import torch
import torch.nn as nn


class Rms(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))

    def forward(self, x, out_dtype):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (y * self.w).to(out_dtype)  # recompile


def make_model():
    return torch.compile(Rms())


def batches():
    x = torch.randn(4, 8)
    return [(x, d) for d in (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.float32)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
