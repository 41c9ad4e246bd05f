"""The batch dict has optional entries; forward asks `in` for each."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.txt = nn.Linear(8, 8)
        self.img = nn.Linear(6, 8)
        self.aud = nn.Linear(4, 8)

    def forward(self, batch):
        h = self.txt(batch["text"])
        if "image" in batch:  # recompile
            h = h + self.img(batch["image"])
        if "audio" in batch:  # recompile
            h = h + self.aud(batch["audio"])
        return h


def make_model():
    return torch.compile(Model())


def batches():
    full = {"text": torch.randn(3, 8), "image": torch.randn(3, 6), "audio": torch.randn(3, 4)}
    return [({k: full[k] for k in ks},) for ks in (
        ("text",), ("text", "image"), ("text", "audio"), ("text", "image", "audio"), ("text",))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
