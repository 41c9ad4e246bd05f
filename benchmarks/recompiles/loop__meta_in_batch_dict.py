import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, batch):  # recompile
        out = self.fc(batch["x"])
        if batch["source"].startswith("noisy"):  # recompile
            out = out * 0.5
        return out.sigmoid()


def main():
    torch.manual_seed(0)
    scorer = torch.compile(Scorer())
    sources = ["clean/a", "noisy/b", "clean/c", "noisy/d", "clean/e"]
    with torch.no_grad():
        for src in sources:
            batch = {"x": torch.randn(4, 6), "source": src}  # recompile
            print(src, scorer(batch).mean().item())  # recompile


if __name__ == "__main__":
    main()
