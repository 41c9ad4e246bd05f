import torch


@torch.compile
def rms_norm(x, weight):
    var = x.pow(2).mean(-1, keepdim=True)
    return x * torch.rsqrt(var + 1e-6) * weight


def main():
    torch.manual_seed(0)
    base = torch.randn(4, 32)
    w = torch.ones(32)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        x = base.to(dtype)
        y = rms_norm(x.float(), w).to(dtype)
        print(dtype, (y - x).abs().max().item())


if __name__ == "__main__":
    main()
