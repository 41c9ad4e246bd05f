"""Sampling options come as keyword arguments of each request."""
import torch


@torch.compile
def sample(logits, **options):  # recompile
    if "top_k" in options:  # recompile
        kth = logits.topk(options["top_k"]).values[..., -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
    if options.get("greedy"):
        return logits.argmax(-1)
    return torch.multinomial(logits.softmax(-1), 1)


def main():
    for options in ({}, {"top_k": 4}, {"greedy": True}, {"top_k": 4, "greedy": True}, {}):
        sample(torch.randn(3, 16), **options)  # recompile


main()
