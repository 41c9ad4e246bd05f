import torch


def flip(x):
    return x.flip(-1)


def invert(x):
    return -x


class Compose:
    def __init__(self, ops):
        self.ops = ops

    def __call__(self, x):
        for op in self.ops:
            x = op(x)
        return x


pipeline = Compose([flip, invert])


@torch.compile
def augment_and_norm(x):
    x = pipeline(x)
    return (x - x.mean()) / (x.std() + 1e-5)


def main():
    for _ in range(12):
        augment_and_norm(torch.randn(2, 8))


main()
