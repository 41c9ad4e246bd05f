import torch


@torch.compile
def combine(losses, weights):
    total = torch.zeros(())
    for name, loss in losses.items():
        total = total + weights.get(name, 1.0) * loss
    return total


def main():
    torch.manual_seed(0)
    weights = {"ce": 1.0, "kl": 0.0, "aux": 0.3}
    for step in range(6):
        losses = {"ce": torch.rand(()), "kl": torch.rand(()), "aux": torch.rand(())}
        total = combine(losses, weights)
        weights["kl"] = min(1.0, weights["kl"] + 0.15)
    print(total.item())


if __name__ == "__main__":
    main()
