"""Batches are dicts; which keys are there depends on the task."""
import torch


@torch.compile
def total(batch):
    loss = 0
    for key, value in batch.items():  # recompile
        loss = loss + value.mean()  # recompile
    return loss


def main():
    x = torch.randn(4)
    batches = [{"a": x}, {"a": x, "b": x}, {"a": x, "b": x, "c": x}]
    for batch in batches:
        total(batch)  # recompile


if __name__ == "__main__":
    main()
