"""A lambda that binds its loop variable by a default, compiled with it once each."""
import torch


def build(powers):
    return [torch.compile(lambda x, p=p: x**p) for p in powers]


def main():
    fns = build([2, 3, 4, 5])
    for fn in fns:
        fn(torch.rand(4))


main()
