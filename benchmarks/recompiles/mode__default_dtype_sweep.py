"""The default dtype is switched around the compiled call by a precision sweep."""
import torch


@torch.compile
def features(x):
    freq = torch.linspace(0.0, 1.0, 6)  # recompile
    return torch.cos(x.unsqueeze(-1) * freq)


def make_model():
    def run(x, dt):
        old = torch.get_default_dtype()
        torch.set_default_dtype(dt)  # recompile
        try:
            return features(x)
        finally:
            torch.set_default_dtype(old)
    return run


def batches():
    x = torch.randn(5)
    return [(x, d) for d in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.float32)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
