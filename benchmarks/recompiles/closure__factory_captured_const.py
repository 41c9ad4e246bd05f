"""A factory makes one compiled loss with a captured margin; the margin stays."""
import torch


def make_triplet(margin):
    @torch.compile
    def triplet(a, p, n):
        return ((a - p).norm(dim=-1) - (a - n).norm(dim=-1) + margin).clamp(min=0).mean()
    return triplet


def make_model():
    return make_triplet(0.3)


def batches():
    return [tuple(torch.randn(b, 8) for _ in range(3)) for b in (4, 6, 8, 10, 5, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
