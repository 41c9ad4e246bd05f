import torch


@torch.compile
def rms_norm(x, weight):  # recompile
    var = x.float().pow(2).mean(-1, keepdim=True)
    return (x * torch.rsqrt(var + 1e-6).to(x.dtype)) * weight


def main():
    torch.manual_seed(0)
    base = torch.randn(4, 32)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        x = base.to(dtype)  # recompile
        w = torch.ones(32, dtype=dtype)
        err = (rms_norm(x, w).float() - rms_norm(base, torch.ones(32))).abs().max()  # recompile
        print(dtype, err.item())


if __name__ == "__main__":
    main()
