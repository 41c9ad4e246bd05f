"""past_key_values is a tuple of chunks; each step appends one more chunk to it."""
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.kv = nn.Linear(d, d)
        self.q = nn.Linear(d, d)

    def forward(self, x, past):
        past = past + (self.kv(x),)  # recompile
        k = torch.cat(past, dim=1)  # recompile
        a = (self.q(x) @ k.transpose(1, 2)).softmax(-1)
        return a @ k, past


def make_model():
    dec = torch.compile(Decoder())

    def generate(steps):
        past = ()
        x = torch.zeros(1, 1, 8)
        for _ in range(steps):
            x, past = dec(x, past)
        return x
    return generate


def batches():
    return [(3,), (5,)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
