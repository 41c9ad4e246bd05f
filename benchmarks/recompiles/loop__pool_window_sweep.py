import torch
import torch.nn.functional as F


@torch.compile
def pooled_energy(signal, window):  # recompile
    pooled = F.avg_pool1d(signal, kernel_size=window, stride=window)  # recompile
    return pooled.square().sum(-1)


def main():
    torch.manual_seed(0)
    signal = torch.randn(2, 3, 120)
    for window in (2, 3, 4, 5, 6):
        print(window, pooled_energy(signal, window).mean().item())  # recompile


if __name__ == "__main__":
    main()
