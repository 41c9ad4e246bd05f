import random
import torch
from torch import nn


class RandomCrop(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, img):
        return img[..., : self.size, : self.size].mean((-1, -2))  # recompile


@torch.compile
def pipeline(img, crop):  # recompile
    return torch.log1p(crop(img * 255))


def main():
    random.seed(1)
    torch.manual_seed(0)
    for size in random.sample(range(8, 28), 5):
        crop = RandomCrop(size)  # recompile
        out = pipeline(torch.rand(2, 3, 32, 32), crop)  # recompile
    print(out.mean().item())


if __name__ == "__main__":
    main()
