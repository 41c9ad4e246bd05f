import torch


@torch.compile
def merge(states):  # recompile
    keys = sorted(states)  # recompile
    return torch.stack([states[k] for k in keys]).logsumexp(0)


def main():
    states = {}
    for step, name in enumerate(["a", "b", "c", "d"]):
        states[name] = torch.randn(5)
        merge(states)


main()
