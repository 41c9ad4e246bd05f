"""A GenerationConfig object whose top_k differs request by request is passed to the compiled sampler."""
from dataclasses import dataclass
import torch


@dataclass
class GenerationConfig:
    top_k: int = 5
    temperature: float = 1.0
    greedy: bool = False


def filter_logits(logits, cfg):
    kth = logits.topk(cfg.top_k, -1).values[..., -1:]
    return logits.masked_fill(logits < kth, -1e9)


@torch.compile
def next_probs(logits, cfg):
    return (filter_logits(logits, cfg) / cfg.temperature).softmax(-1)


def make_model():
    return next_probs


def batches():
    l = torch.randn(2, 32)
    return [(l, GenerationConfig(top_k=k)) for k in (5, 7, 9, 12, 20, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
