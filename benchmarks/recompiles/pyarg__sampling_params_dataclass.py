"""A dataclass of sampling parameters; the penalty only scales a tensor, so it settles as a dynamic float."""
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class SamplingParams:
    penalty: float = 1.0
    min_p: float = 0.05


class Sampler(nn.Module):
    def forward(self, logits, seen, params: SamplingParams):
        logits = torch.where(seen, logits / params.penalty, logits)
        probs = logits.softmax(-1)
        keep = probs >= params.min_p * probs.amax(-1, keepdim=True)
        return probs * keep


def make_model():
    return torch.compile(Sampler())


def batches():
    lg, seen = torch.randn(3, 30), torch.rand(3, 30) > 0.5
    return [(lg, seen, SamplingParams(penalty=1.0 + 0.05 * i)) for i in range(1, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
