"""An LSTM-like state tuple of fixed length."""
import torch
import torch.nn as nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(5, 7)

    def forward(self, x, state):
        h, c = self.cell(x, state)
        return h, (h, c)


def make_model():
    cell = torch.compile(Cell())

    def unroll(xs):
        state = (torch.zeros(3, 7), torch.zeros(3, 7))
        for x in xs:
            h, state = cell(x, state)
        return h
    return unroll


def batches():
    return [([torch.randn(3, 5) for _ in range(n)],) for n in (2, 3, 4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
