import torch


@torch.compile
def energy(x, w):  # recompile
    return (x @ w).square().sum()


def main():
    torch.manual_seed(0)
    x = torch.randn(4, 6)
    w = torch.randn(6, 2)
    print("plain", energy(x, w).item())
    with torch.no_grad():  # recompile
        print("no_grad", energy(x, w).item())
    w.requires_grad_(True)  # recompile
    e = energy(x, w)  # recompile
    e.backward()
    print("grad", w.grad.norm().item())


if __name__ == "__main__":
    main()
