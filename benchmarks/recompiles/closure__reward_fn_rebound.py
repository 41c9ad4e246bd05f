"""RL: a closure cell holds the shaping function, rebound to a new lambda each curriculum stage."""
import torch
import torch.nn as nn


def make_model():
    value = nn.Linear(6, 1)
    shape_reward = lambda r: r

    @torch.compile
    def advantage(obs, nxt, r):
        rr = shape_reward(r)
        return rr + 0.99 * value(nxt).squeeze(-1) - value(obs).squeeze(-1)

    def rollout(obs, nxt, r, stage):
        nonlocal shape_reward
        scale = 1.0 + stage
        shape_reward = lambda v: (v * scale).clamp(-10, 10)
        return advantage(obs, nxt, r)
    return rollout


def batches():
    o, n, r = torch.randn(5, 6), torch.randn(5, 6), torch.randn(5)
    return [(o, n, r, s) for s in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
