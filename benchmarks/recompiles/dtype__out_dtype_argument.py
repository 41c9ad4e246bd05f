"""The output dtype is an argument of the compiled function."""
import torch
import torch.nn as nn


class Quant(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, out_dtype):
        return (self.fc(x) * 16).to(out_dtype)  # recompile


def make_model():
    return torch.compile(Quant())


def batches():
    return [(torch.randn(2, 8), d) for d in (torch.int8, torch.int16, torch.int32, torch.float16)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
