"""The entry that changes is an int that only picks a row: a dict's entry stays burned in."""
import torch

state = {"row": 2, "name": "x"}


@torch.compile
def pick(table):
    return table[state["row"]].sin()  # recompile


def main():
    table = torch.randn(20, 4)
    for row in (2, 3, 5, 7, 9):
        state["row"] = row  # recompile
        pick(table)


main()
