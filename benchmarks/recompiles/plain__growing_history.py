"""A list of states that grows with every step."""
import torch


@torch.compile
def step(x, history):
    if history:  # recompile
        x = x + torch.stack(history).mean(0)  # recompile
    return x.tanh()


def main():
    history = []
    x = torch.randn(4)
    for _ in range(6):
        x = step(x, history)  # recompile
        history.append(x)  # recompile


if __name__ == "__main__":
    main()
