"""Training, validation under no_grad, serving under inference_mode."""
import torch
import torch.nn as nn


def main():
    net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1))
    fast = torch.compile(net)
    x = torch.randn(4, 8)
    for epoch in range(3):
        net.train()
        fast(x).sum().backward()
        net.eval()
        with torch.no_grad():  # recompile
            fast(x)
        with torch.inference_mode():  # recompile
            fast(x)


if __name__ == "__main__":
    main()
