"""A denoiser closure per cutoff: hardshrink with a captured float settles as a dynamic float."""
import torch
import torch.nn.functional as F


def make_denoiser(basis, cutoff):
    @torch.compile
    def denoise(x):
        c = F.hardshrink(x @ basis, cutoff)
        return c @ basis.T
    return denoise


def make_model():
    basis = torch.linalg.qr(torch.randn(6, 6))[0]
    bank = {k: make_denoiser(basis, 0.1 * k) for k in range(1, 7)}
    return lambda x, k: bank[k](x)


def batches():
    x = torch.randn(3, 6)
    return [(x, k) for k in range(1, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
