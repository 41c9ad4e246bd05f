"""Sampling options in a dataclass: top_k differs by request and goes to topk."""
from dataclasses import dataclass
import torch


@dataclass(frozen=True)
class SamplingParams:
    top_k: int = 4
    greedy: bool = False


@torch.compile
def sample(logits, params):
    if params.greedy:
        return logits.argmax(-1)
    v, i = torch.topk(logits, params.top_k)
    j = v.softmax(-1).cumsum(-1).gt(0.5).int().argmax(-1)
    return i.gather(-1, j.unsqueeze(-1))


def make_model():
    return sample


def batches():
    return [(torch.randn(2, 30), SamplingParams(top_k=k)) for k in (4, 5, 8, 10, 12)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
