import torch
import torch.nn as nn

q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))


@torch.compile
def td(obs, act, rew, nxt, done):
    with torch.no_grad():
        target = rew + 0.99 * (1 - done) * q(nxt).amax(-1)
    return (q(obs).gather(1, act[:, None]).squeeze(1) - target).pow(2).mean()


class Replay:
    def __init__(self):
        self.rows = []

    def push(self, row):
        self.rows.append(row)

    def sample(self, n):
        rows = self.rows[-n:]
        return [torch.stack(col) for col in zip(*rows)]


def main():
    buf = Replay()
    for t in range(12):
        buf.push((torch.randn(4), torch.tensor(t % 2), torch.randn(()), torch.randn(4), torch.zeros(())))
        if t >= 3:
            td(*buf.sample(4)).backward()


main()
