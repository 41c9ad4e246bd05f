"""A compiled method on plain objects of one class, each with its own tensors of the same shape."""
import torch


class Agent:
    def __init__(self, seed):
        g = torch.Generator().manual_seed(seed)
        self.w = torch.randn(6, 3, generator=g)

    @torch.compile
    def act(self, obs):
        return (obs @ self.w).argmax(-1)


def make_model():
    agents = [Agent(s) for s in range(6)]

    def run(obs, i):
        return agents[i].act(obs)
    return run


def batches():
    o = torch.randn(4, 6)
    return [(o, i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
