"""A trainer with phases: warm-up, main, cool-down, each with a name passed to the step."""
import torch
import torch.nn as nn


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 4)
        self.loss = torch.compile(self._loss)

    def _loss(self, x, phase):
        y = self.model(x)
        if phase == "warmup":  # recompile
            return y.abs().mean()
        if phase == "main":  # recompile
            return y.square().mean()
        return y.mean()

    def train(self):
        for phase in ("warmup", "main", "cooldown"):
            for _ in range(3):
                self.loss(torch.randn(2, 4), phase).backward()  # recompile


if __name__ == "__main__":
    Trainer().train()
