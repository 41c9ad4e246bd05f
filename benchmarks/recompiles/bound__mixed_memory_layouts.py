"""Feature maps come from loaders with several layouts of the same size."""
import torch
import torch.nn as nn


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, padding=1)

    def forward(self, x):  # recompile
        return self.conv(x).relu()


def make_model():
    stem = torch.compile(Stem())

    def run(batch):
        return stem(batch)  # recompile
    return run


def batches():
    x = torch.randn(4, 4, 6, 6)
    return [(x,), (x.transpose(2, 3),), (x.to(memory_format=torch.channels_last),),
            (x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 2, 1),), (x.flip(0),)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
