import enum
import torch


class Schedule(enum.Enum):
    LINEAR = "linear"
    COSINE = "cosine"
    SIGMOID = "sigmoid"


@torch.compile
def alpha_bar(t, kind):  # recompile
    if kind is Schedule.LINEAR:  # recompile
        return 1 - t
    if kind is Schedule.COSINE:
        return torch.cos(t * 1.57) ** 2
    return torch.sigmoid(6 - 12 * t)


def compare():
    t = torch.linspace(0, 1, 9)
    return {kind.name: alpha_bar(t, kind) for kind in Schedule}


compare()
