"""The temperature is a tensor: one program."""
import torch


@torch.compile
def sample(logits, t):
    return (logits / t).softmax(-1)


def main():
    x = torch.randn(8)
    for t in torch.linspace(0.5, 1.5, 5):
        sample(x, t)


if __name__ == "__main__":
    main()
