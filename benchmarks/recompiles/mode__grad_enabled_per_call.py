"""RL: acting under no_grad, learning with grad, evaluation under inference_mode or bf16 autocast on the same compiled policy."""
import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, obs):
        return self.net(obs).log_softmax(-1)


def make_model():
    pi = torch.compile(Policy())

    def run(obs, phase):
        if phase == "act":
            with torch.no_grad():
                return pi(obs)
        if phase == "eval":
            with torch.inference_mode():  # recompile
                return pi(obs)
        if phase == "amp":
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):  # recompile
                return pi(obs)
        return pi(obs)
    return run


def batches():
    o = torch.randn(4, 6)
    return [(o, p) for p in ("act", "learn", "eval", "amp", "act", "learn", "eval", "amp")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
