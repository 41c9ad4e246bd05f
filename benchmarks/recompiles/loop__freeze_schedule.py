import torch
from torch import nn
import torch.nn.functional as F


def main():
    torch.manual_seed(0)
    backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16))
    head = nn.Linear(16, 3)
    model = nn.Sequential(backbone, head)
    for p in backbone.parameters():
        p.requires_grad_(False)
    compiled = torch.compile(model)
    x, y = torch.randn(12, 8), torch.randint(0, 3, (12,))
    for unfreeze in (None, 4, 2, 0):
        if unfreeze is not None:
            for p in backbone[unfreeze].parameters():
                p.requires_grad_(True)  # recompile
        opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
        for _ in range(3):
            loss = F.cross_entropy(compiled(x), y)  # recompile
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(unfreeze, loss.item())


if __name__ == "__main__":
    main()
