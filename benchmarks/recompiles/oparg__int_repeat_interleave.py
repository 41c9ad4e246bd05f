"""Beam expansion: each row repeated num_beams times."""
import torch
import torch.nn as nn


class Expand(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(9, 1)

    def forward(self, states, num_beams):
        big = states.repeat_interleave(num_beams, dim=0)
        return self.score(big).view(states.size(0), num_beams)


def make_model():
    return torch.compile(Expand())


def batches():
    s = torch.randn(3, 9)
    return [(s, k) for k in (2, 3, 4, 5, 6, 8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
