"""One compiled model is used for training, for evaluation under no_grad and for MC dropout under no_grad."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):  # recompile
        return self.drop(self.fc(x)).relu()


def make_model():
    net = Net()
    fast = torch.compile(net)

    def run(x, training, grad):
        net.train(training)  # recompile
        with torch.set_grad_enabled(grad):  # recompile
            return fast(x)
    return run


def batches():
    x = torch.randn(4, 8)
    return [(x, True, True), (x, False, False), (x, True, False), (x, False, True), (x, True, True)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
