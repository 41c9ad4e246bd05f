import torch


class CosineWeight:
    def __init__(self, total):
        self.total = total
        self.step_num = 0

    def step(self):
        self.step_num += 1

    def __call__(self, x):
        frac = self.step_num / self.total
        return x * (1 - frac)


@torch.compile
def weighted(x, sched):
    return sched(x).sum()


def main():
    sched = CosineWeight(10)
    for _ in range(6):
        weighted(torch.randn(8), sched)
        sched.step()


main()
