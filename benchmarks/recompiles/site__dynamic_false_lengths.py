"""dynamic=False at the compile site while the clips' lengths all differ."""
import torch
import torch.nn as nn


class AudioNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 5, padding=2)

    def forward(self, wave):
        return self.conv(wave).relu().mean(-1)


def make_model():
    net = AudioNet()
    return torch.compile(net, dynamic=False)  # recompile


def batches():
    return [(torch.randn(2, 1, n),) for n in (40, 52, 64, 44, 71, 90)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
