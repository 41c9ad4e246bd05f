"""A server compiles a fresh closure for every request."""
import torch
import torch.nn as nn


class Server:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def handle(self, x, tag):
        def predict(v):
            return {tag: self.model(v).softmax(-1)}  # recompile
        return torch.compile(predict)(x)  # recompile


def make_model():
    return Server().handle


def batches():
    return [(torch.randn(2, 8), f"req{i}") for i in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
