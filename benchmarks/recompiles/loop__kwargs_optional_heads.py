import torch
from torch import nn
import torch.nn.functional as F


class MultiLoss(nn.Module):
    def forward(self, logits, labels, **extras):  # recompile
        loss = F.cross_entropy(logits, labels)
        for name, value in extras.items():  # recompile
            loss = loss + 0.1 * value.pow(2).mean()
        return loss


def main():
    torch.manual_seed(0)
    crit = torch.compile(MultiLoss())
    extras_plan = [{}, {"z": 4}, {"z": 4, "recon": 8}, {"recon": 8}, {"z": 4, "kl": 2}]
    total = 0.0
    for plan in extras_plan:
        logits = torch.randn(6, 3)
        labels = torch.randint(0, 3, (6,))
        extras = {k: torch.randn(6, n) for k, n in plan.items()}
        total += crit(logits, labels, **extras).item()  # recompile
    print(total)


if __name__ == "__main__":
    main()
