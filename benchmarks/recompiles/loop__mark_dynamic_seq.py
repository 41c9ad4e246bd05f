import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 8)
        self.pos = nn.Parameter(torch.randn(64, 8))

    def forward(self, ids):
        return (self.emb(ids) + self.pos[: ids.shape[1]]).mean(1)


def main():
    torch.manual_seed(0)
    enc = Encoder().eval()
    fn = torch.compile(enc, fullgraph=True)
    for n in (5, 9, 17, 23, 40):
        ids = torch.randint(0, 100, (2, n))
        torch._dynamo.mark_dynamic(ids, 1, min=2, max=64)
        out = fn(ids)
    print(out.mean().item())


if __name__ == "__main__":
    main()
