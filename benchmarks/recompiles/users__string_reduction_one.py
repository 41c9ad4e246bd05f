"""A metric whose reduction is the same string."""
import torch


@torch.compile
def score(pred, gold, reduction="mean"):
    err = (pred - gold).abs()
    return err.mean() if reduction == "mean" else err.sum()


results = [score(torch.rand(4), torch.rand(4), reduction="sum") for _ in range(4)]
