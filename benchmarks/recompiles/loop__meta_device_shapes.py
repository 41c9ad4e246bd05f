import torch


@torch.compile
def project(x, w):  # recompile
    return torch.relu(x @ w).sum(-1)


def main():
    torch.manual_seed(0)
    variants = [("cpu", torch.float32), ("meta", torch.float32), ("meta", torch.bfloat16), ("cpu", torch.bfloat16)]
    for device, dtype in variants:
        x = torch.ones(4, 8, device=device, dtype=dtype)  # recompile
        w = torch.ones(8, 3, device=device, dtype=dtype)
        y = project(x, w)  # recompile
        print(device, dtype, tuple(y.shape), y.dtype)


if __name__ == "__main__":
    main()
