"""Parameter groups are added while training as blocks unfreeze; the step is compiled."""
import torch
import torch.nn as nn


def make_model():
    blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(6))
    opt = torch.optim.SGD(blocks[0].parameters(), lr=0.05)
    opt_step = torch.compile(opt.step)  # recompile

    def train(x, stage):
        if stage:
            opt.add_param_group({"params": list(blocks[stage].parameters())})  # recompile
        h = x
        for b in blocks:
            h = b(h).tanh()
        opt.zero_grad()
        h.pow(2).mean().backward()
        opt_step()
    return train


def batches():
    return [(torch.randn(4, 8), s) for s in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
