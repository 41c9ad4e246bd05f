"""A tuple of names says what is returned."""
import torch


@torch.compile
def run(x, wanted):
    out = {"mean": x.mean(), "max": x.amax(), "sum": x.sum()}
    return {k: out[k] for k in wanted}  # recompile


def main():
    x = torch.randn(4)
    for wanted in (("mean",), ("mean", "max"), ("sum", "max"), ("mean", "max", "sum")):
        run(x, wanted)  # recompile


if __name__ == "__main__":
    main()
