"""Sentences are sorted and grouped by length; each group is a batch."""
from itertools import groupby

import torch


@torch.compile(dynamic=False)  # recompile
def encode(tokens):  # recompile
    return torch.nn.functional.one_hot(tokens, 10).float().mean(1)


def main():
    corpus = [[1] * n for n in (3, 5, 4, 3, 5, 4, 7)]
    corpus.sort(key=len)
    for _, group in groupby(corpus, key=len):
        encode(torch.tensor(list(group)))  # recompile


main()
