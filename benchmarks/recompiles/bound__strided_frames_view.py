"""Video clips are taken as strided views with different frame steps; the compiled region sees other strides."""
import torch
import torch.nn as nn


class ClipEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, clip):
        return self.fc(clip).mean(0)


def make_model():
    enc = torch.compile(ClipEncoder())

    def encode(video, step):
        clip = video[::step][:4]
        return enc(clip)
    return encode


def batches():
    v = torch.randn(40, 6)
    return [(v, s) for s in (1, 2, 3, 4, 5, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
