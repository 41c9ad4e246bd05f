"""Batches with a token budget: many short sentences or few long ones; both dimensions vary."""
import torch

corpus = [3, 3, 4, 4, 5, 6, 7, 8, 9, 11, 12, 14]


def batches(budget):
    batch = []
    for n in corpus:
        if batch and max(n, *batch) * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(n)
    yield batch


@torch.compile(dynamic=False)  # recompile
def encode(x):  # recompile
    return x.sin().sum(1)


for batch in batches(24):
    encode(torch.zeros(len(batch), max(batch)))  # recompile
