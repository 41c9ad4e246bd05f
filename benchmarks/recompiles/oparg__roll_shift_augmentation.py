"""Audio augmentation: a random time shift as a Python int to torch.roll."""
import torch


@torch.compile
def augment(wave, shift, gain):
    shifted = torch.roll(wave, shifts=shift, dims=-1)
    return shifted * gain


def make_model():
    return augment


def batches():
    w = torch.randn(2, 64)
    return [(w, s, 0.5 + 0.1 * i) for i, s in enumerate((3, 11, 7, 20, 33, 5))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
