"""Each subclass has another class attribute; one compiled base method."""
import torch


class Op:
    power = 1

    @torch.compile
    def run(self, x):  # recompile
        return x**self.power  # recompile


class Square(Op):
    power = 2


class Cube(Op):
    power = 3


class Quart(Op):
    power = 4


def main():
    for op in (Op(), Square(), Cube(), Quart()):
        op.run(torch.rand(3))  # recompile


main()
