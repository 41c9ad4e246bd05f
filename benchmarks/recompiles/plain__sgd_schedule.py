"""A compiled step of SGD with a schedule."""
import torch
import torch.nn as nn


def main():
    net = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    step = torch.compile(optimizer.step)  # recompile
    for _ in range(5):
        net(torch.randn(2, 4)).sum().backward()
        step()  # recompile
        schedule.step()  # recompile


if __name__ == "__main__":
    main()
