"""The clipping limit is a float that follows the step."""
import torch


@torch.compile
def clip(g, limit):
    return g.clamp(-limit, limit)  # recompile


def main():
    g = torch.randn(8)
    for step in range(6):
        clip(g, 1.0 / (step + 1))  # recompile


if __name__ == "__main__":
    main()
