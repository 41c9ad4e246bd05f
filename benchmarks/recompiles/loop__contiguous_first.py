import torch


@torch.compile
def standardize(img):
    return (img - img.mean((-1, -2), keepdim=True)) / (img.std((-1, -2), keepdim=True) + 1e-5)


def main():
    torch.manual_seed(0)
    base = torch.rand(2, 3, 8, 8)
    views = {
        "nchw": base,
        "nhwc": base.to(memory_format=torch.channels_last),
        "rot": base.rot90(1, (2, 3)),
        "swap": base.transpose(0, 1).contiguous().transpose(0, 1),
    }
    for name, img in views.items():
        print(name, standardize(img.contiguous()).abs().mean().item())


if __name__ == "__main__":
    main()
