import torch


@torch.compile
def pinball(pred, target, tau):
    err = target - pred
    return torch.maximum(tau * err, (tau - 1) * err).mean()


def main():
    torch.manual_seed(0)
    pred, target = torch.randn(100), torch.randn(100)
    for tau in torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95]):
        print(pinball(pred, target, tau).item())


if __name__ == "__main__":
    main()
