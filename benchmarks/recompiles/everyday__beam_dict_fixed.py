import torch


@torch.compile
def merge(states):
    keys = sorted(states)
    return torch.stack([states[k] for k in keys]).logsumexp(0)


def main():
    states = {name: torch.zeros(5) for name in "abcd"}
    for step, name in enumerate(["a", "b", "c", "d"]):
        states[name] = torch.randn(5)
        merge(states)


main()
