import torch


@torch.compile
def mix(states):  # recompile
    return torch.stack(states).softmax(0).sum(0)


def main():
    torch.manual_seed(0)
    states = (torch.randn(4),)
    for layer in range(5):
        y = mix(states)  # recompile
        states = states + (y + torch.randn(4),)  # recompile
    print(y)


if __name__ == "__main__":
    main()
