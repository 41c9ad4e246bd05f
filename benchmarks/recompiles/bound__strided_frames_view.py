"""Video clips are taken as strided views with different frame steps; the compiled region sees other strides."""
import torch
import torch.nn as nn


class ClipEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, clip):
        return self.fc(clip).mean(0)


def build():
    enc = torch.compile(ClipEncoder())

    def encode(video, step):
        clip = video[::step][:4]
        return enc(clip)
    return encode


def calls():
    v = torch.randn(40, 6)
    return [(v, s) for s in (1, 2, 3, 4, 5, 6)]
