"""Options of the compile call in a dict: dynamic=False among them."""
import torch

OPTIONS = {"dynamic": False, "fullgraph": True}


def f(x):  # recompile
    return x.sin().sum()  # recompile


def main():
    g = torch.compile(f, **OPTIONS)  # recompile
    for n in (4, 8, 12, 16):
        g(torch.randn(n))  # recompile


if __name__ == "__main__":
    main()
