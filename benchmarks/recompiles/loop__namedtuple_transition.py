from typing import NamedTuple
import torch


class Transition(NamedTuple):
    obs: torch.Tensor
    reward: torch.Tensor
    done: torch.Tensor
    env_id: int


@torch.compile
def td_target(tr, next_v, gamma=0.99):
    return tr.reward + gamma * next_v * (1 - tr.done.float())


def main():
    torch.manual_seed(0)
    for step in range(8):
        tr = Transition(torch.randn(5, 4), torch.randn(5), torch.rand(5) < 0.1, env_id=step)
        target = td_target(tr, torch.randn(5))
    print(target.mean().item())


if __name__ == "__main__":
    main()
