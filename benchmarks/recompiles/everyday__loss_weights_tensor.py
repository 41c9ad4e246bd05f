import torch


@torch.compile
def total(pred, target, w):
    l1 = (pred - target).abs().mean()
    l2 = (pred - target).square().mean()
    return w[0] * l1 + w[1] * l2


def schedule(epoch):
    return torch.tensor([1.0, 0.1 * epoch])


def main():
    for epoch in range(5):
        pred, target = torch.randn(4, 8, requires_grad=True), torch.randn(4, 8)
        total(pred, target, schedule(epoch)).backward()


main()
