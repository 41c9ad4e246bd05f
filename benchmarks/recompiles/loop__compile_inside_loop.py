import torch
from torch import nn


def evaluate(model, batches):
    compiled = torch.compile(model)  # recompile
    with torch.no_grad():
        return sum(compiled(b).mean().item() for b in batches)  # recompile


def main():
    torch.manual_seed(0)
    batches = [torch.randn(4, 8) for _ in range(3)]
    for width in (8, 16, 32, 64):
        model = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 1))  # recompile
        print(width, evaluate(model, batches))


if __name__ == "__main__":
    main()
