import torch
import torch.nn.functional as F

ACTS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": torch.tanh}


@torch.compile
def ffn(x, w1, w2, act):  # recompile
    return ACTS[act](x @ w1) @ w2  # recompile


def main():
    torch.manual_seed(0)
    x = torch.randn(4, 8)
    w1, w2 = torch.randn(8, 16), torch.randn(16, 8)
    for name in ACTS:
        print(name, ffn(x, w1, w2, name).std().item())  # recompile


if __name__ == "__main__":
    main()
