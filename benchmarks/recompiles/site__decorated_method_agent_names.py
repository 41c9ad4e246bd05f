"""A compiled method on plain objects; each agent has a name that forward looks up in a table of scales."""
import torch

SCALE = {"red": 1.0, "blue": 2.0, "green": 0.5, "grey": 0.1, "gold": 3.0}


class Agent:
    def __init__(self, name):
        self.name = name
        self.w = torch.randn(6, 3)

    @torch.compile
    def act(self, obs):
        return (obs @ self.w * SCALE[self.name]).softmax(-1)  # recompile


def make_model():
    agents = {n: Agent(n) for n in SCALE}

    def run(obs, name):
        return agents[name].act(obs)
    return run


def batches():
    o = torch.randn(4, 6)
    return [(o, n) for n in ("red", "blue", "green", "grey", "gold", "red")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
