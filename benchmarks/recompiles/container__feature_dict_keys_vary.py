"""A dict of modalities; which keys are present depends on the sample."""
import torch
import torch.nn as nn


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.ModuleDict({k: nn.Linear(6, 10) for k in ("rgb", "audio", "text")})

    def forward(self, feats):
        out = 0
        for name, f in feats.items():  # recompile
            out = out + self.proj[name](f)
        return out / len(feats)


def make_model():
    return torch.compile(Fusion())


def batches():
    f = lambda *ks: ({k: torch.randn(2, 6) for k in ks},)
    return [f("rgb"), f("rgb", "audio"), f("text"), f("rgb", "audio", "text"), f("rgb")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
