"""The same Gram matrices as one einsum, batch marked dynamic from the start."""
import torch
import torch.nn as nn


class PerSample(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, feats):
        return torch.einsum("bnd,bne->bde", self.fc(feats), feats)


def make_model():
    net = torch.compile(PerSample())

    def run(feats):
        torch._dynamo.mark_dynamic(feats, 0)
        return net(feats)
    return run


def batches():
    return [(torch.randn(b, 3, 6),) for b in (2, 3, 4, 5, 6, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
