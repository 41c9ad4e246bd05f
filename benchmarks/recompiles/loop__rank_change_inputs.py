import torch
import torch.nn.functional as F


@torch.compile(dynamic=True)
def layer_norm_last(x, w):  # recompile
    return F.layer_norm(x, (x.shape[-1],), w)


def main():
    torch.manual_seed(0)
    w = torch.ones(6)
    tensors = [torch.randn(6), torch.randn(4, 6), torch.randn(2, 3, 6), torch.randn(2, 2, 3, 6)]
    for x in tensors:
        print(tuple(x.shape), layer_norm_last(x, w).abs().mean().item())  # recompile


if __name__ == "__main__":
    main()
