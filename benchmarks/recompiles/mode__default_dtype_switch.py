"""The default dtype is switched between phases; the compiled function creates tensors of the default dtype."""
import torch


@torch.compile
def positions(x):
    t = torch.linspace(0, 1, 16)
    return x.to(t.dtype) * t.sin()


def make_model():
    def run(x, dtype):
        torch.set_default_dtype(dtype)  # recompile
        try:
            return positions(x)  # recompile
        finally:
            torch.set_default_dtype(torch.float32)
    return run


def batches():
    x = torch.ones(4, 16)
    return [(x, d) for d in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.float32, torch.float64)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
