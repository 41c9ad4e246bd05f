import torch


@torch.compile
def apply_act(x, act):
    return act(x).sum(dim=-1)


def main():
    torch.manual_seed(0)
    x = torch.randn(6, 20)
    scores = []
    for slope in (0.01, 0.05, 0.1, 0.2, 0.3):
        act = lambda t: torch.where(t > 0, t, slope * t)
        scores.append(apply_act(x, act).mean().item())
        x = x * 0.9
    print(scores)


if __name__ == "__main__":
    main()
