"""Images of one size reach the compiled net as they come: contiguous, permuted from NHWC, every second row of a larger one, or flipped in axes."""
import torch
import torch.nn as nn


def make_model():
    net = torch.compile(nn.Conv2d(3, 4, 3))

    def run(img, source):
        if source == "numpy":
            img = img.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
        elif source == "video":
            img = torch.cat([img, img], 2)[:, :, ::2]
        elif source == "rotated":
            img = img.transpose(2, 3)
        return net(img)  # recompile
    return run


def batches():
    x = torch.randn(2, 3, 8, 8)
    return [(x, s) for s in ("file", "numpy", "video", "rotated", "file", "numpy")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
