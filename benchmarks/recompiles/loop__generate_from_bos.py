import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocab=30, d=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.conv = nn.Conv1d(d, d, 3)
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):  # recompile
        h = self.emb(ids).transpose(1, 2)
        if ids.shape[1] < 3:  # recompile
            h = nn.functional.pad(h, (3 - ids.shape[1], 0))
        return self.out(torch.relu(self.conv(h))[..., -1])


def main():
    torch.manual_seed(0)
    model = CharModel().eval()
    fwd = torch.compile(model)
    ids = torch.zeros(1, 1, dtype=torch.long)
    with torch.no_grad():
        for _ in range(8):
            ids = torch.cat([ids, fwd(ids).argmax(-1, keepdim=True)], 1)  # recompile
    print(ids.tolist())


if __name__ == "__main__":
    main()
