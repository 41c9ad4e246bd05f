"""Lists of other numbers of images."""
import torch


@torch.compile
def encode(images):
    return torch.cat([image.mean((1, 2)) for image in images])  # recompile


def main():
    for count in range(1, 5):
        images = [torch.randn(3, 4, 4) for _ in range(count)]
        encode(images)  # recompile


if __name__ == "__main__":
    main()
