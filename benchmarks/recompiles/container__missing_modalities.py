"""Batches carry whichever modalities the sample has: the dict's keys change."""
import torch
import torch.nn as nn


class MultiModal(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.ModuleDict({"audio": nn.Linear(6, 4), "video": nn.Linear(8, 4), "text": nn.Linear(5, 4)})

    def forward(self, batch):
        out = 0
        for name in ("audio", "video", "text"):
            if name in batch:  # recompile
                out = out + self.enc[name](batch[name])
        return out


def make_model():
    return torch.compile(MultiModal())


def batches():
    t = {"audio": torch.randn(3, 6), "video": torch.randn(3, 8), "text": torch.randn(3, 5)}
    pick = (("audio",), ("audio", "video"), ("text",), ("video", "text"), ("audio",), ("audio", "video", "text"))
    return [({k: t[k] for k in ks},) for ks in pick]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
