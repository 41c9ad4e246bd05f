"""A mixed-precision helper sets the default dtype around the compiled sampler."""
import torch


@torch.compile
def add_noise(x, sigma):
    return x + sigma * torch.ones(x.shape[-1])


def make_model():
    def run(x, sigma, dt):
        old = torch.get_default_dtype()
        torch.set_default_dtype(dt)  # recompile
        try:
            return add_noise(x, sigma)
        finally:
            torch.set_default_dtype(old)
    return run


def batches():
    x, s = torch.randn(4, 8), torch.tensor(0.3)
    ds = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.float32, torch.float64)
    return [(x, s, d) for d in ds]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
