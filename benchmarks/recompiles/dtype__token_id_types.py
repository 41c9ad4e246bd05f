"""Token ids come as int64, int32, int16 or uint8, depending on the dataset file."""
import torch
import torch.nn as nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 8)

    def forward(self, ids):  # recompile
        return self.emb(ids.long()).sum(1)  # recompile


def make_model():
    return torch.compile(Bag())


def batches():
    ids = torch.randint(0, 50, (4, 6))
    return [(ids.to(d),) for d in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int64)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
