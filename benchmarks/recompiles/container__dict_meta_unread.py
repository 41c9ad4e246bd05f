"""The batch dict carries a file name and an index that the model does not read."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3)

    def forward(self, batch):
        return self.conv(batch["wave"]).amax(-1)


def make_model():
    return torch.compile(Model())


def batches():
    return [({"wave": torch.randn(2, 3, 20), "path": f"clip{i}.wav", "index": i},) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
