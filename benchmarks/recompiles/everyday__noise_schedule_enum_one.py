import enum
import torch


class Schedule(enum.Enum):
    LINEAR = "linear"
    COSINE = "cosine"
    SIGMOID = "sigmoid"


@torch.compile
def alpha_bar(t, kind):
    if kind is Schedule.LINEAR:
        return 1 - t
    if kind is Schedule.COSINE:
        return torch.cos(t * 1.57) ** 2
    return torch.sigmoid(6 - 12 * t)


def sample(kind=Schedule.COSINE, steps=6):
    t = torch.linspace(0, 1, 9)
    for i in range(steps):
        t = alpha_bar(t, kind)
    return t


sample()
