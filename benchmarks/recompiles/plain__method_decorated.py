"""A decorated method with a swept argument."""
import torch


class Scorer:
    def __init__(self):
        self.w = torch.randn(4, 4)

    @torch.compile
    def top(self, x, dim):
        return (x @ self.w).amax(dim)  # recompile


def main():
    scorer = Scorer()
    x = torch.randn(2, 3, 4)
    for dim in (0, 1, 2):
        scorer.top(x, dim)  # recompile


if __name__ == "__main__":
    main()
