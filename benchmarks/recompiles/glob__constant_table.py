"""A module-level table of constants, read and never changed; the index is a fixed name."""
import torch

SCALES = {"sd": 0.18215, "xl": 0.13025}
KIND = "sd"


@torch.compile
def decode_latents(z, shift):
    return (z / SCALES[KIND] + shift).clamp(-1, 1)


def make_model():
    return decode_latents


def batches():
    z = torch.randn(1, 4, 8, 8)
    return [(z, 0.01 * i + 0.005) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
