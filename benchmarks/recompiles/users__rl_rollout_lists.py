"""Rollouts of several lengths are stacked and go into a compiled return computation."""
import torch


class Buffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.rewards = []

    def add(self, r):
        self.rewards.append(torch.tensor(r))

    def batch(self):
        return torch.stack(self.rewards)


@torch.compile(dynamic=False)  # recompile
def returns(rewards):  # recompile
    return rewards.flip(0).cumsum(0).flip(0)


buffer = Buffer()
for length in (3, 5, 4, 7):
    for t in range(length):
        buffer.add(float(t))
    returns(buffer.batch())  # recompile
    buffer.clear()
