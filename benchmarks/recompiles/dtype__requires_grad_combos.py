"""Sensitivity analysis: gradients are asked for different subsets of the three inputs."""
import torch


@torch.compile
def energy(pos, charge, box):  # recompile
    d = (pos[:, None] - pos[None]) / box
    return (charge[:, None] * charge[None] * torch.exp(-d.square().sum(-1))).sum()


def make_model():
    def run(pos, charge, box, wrt):
        ts = [t.clone().requires_grad_(n in wrt) for n, t in (("p", pos), ("c", charge), ("b", box))]
        return energy(*ts)  # recompile
    return run


def batches():
    p, c, b = torch.randn(5, 3), torch.randn(5), torch.ones(3)
    return [(p, c, b, w) for w in ("", "p", "c", "pc", "b", "p")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
