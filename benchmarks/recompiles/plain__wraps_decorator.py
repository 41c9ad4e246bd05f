"""A decorator of the program's own compiles and wraps."""
import functools

import torch


def compiled(fn):
    inner = torch.compile(fn)

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return inner(*args, **kwargs)

    return wrapper


@compiled
def head(x, name):
    return {name: x.relu()}  # recompile


def main():
    x = torch.randn(4)
    for name in ("a", "b", "c", "d"):
        head(x, name)  # recompile


if __name__ == "__main__":
    main()
