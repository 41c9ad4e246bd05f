"""A list grows with each call and is handed over."""
import torch


@torch.compile
def smooth(history, decay):
    weights = [decay**i for i in range(len(history))]  # recompile
    total = sum(w * h for w, h in zip(weights, reversed(history)))  # recompile
    return total / sum(weights)


def main():
    decay = torch.tensor(0.9)
    losses = []
    for step in range(6):
        losses.append(torch.rand(()))
        smooth(losses, decay)  # recompile


main()
