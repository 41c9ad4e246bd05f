"""Sometimes called under a `with torch.device(...)` block: the mode stack is guarded."""
import contextlib
import torch


@torch.compile
def noise_like(x):
    return x + torch.ones(x.shape[-1]).cumsum(0).to(x.device)


def make_model():
    def run(x, device):
        ctx = torch.device(device) if device else contextlib.nullcontext()
        with ctx:
            return noise_like(x)
    return run


def batches():
    x = torch.randn(4, 8)
    return [(x, d) for d in (None, "cpu", None, "cpu", None, "cpu")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
