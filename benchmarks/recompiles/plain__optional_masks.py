"""Three optional arguments, given or not."""
import torch


@torch.compile
def attend(x, mask=None, bias=None):
    if mask is not None:  # recompile
        x = x * mask
    if bias is not None:  # recompile
        x = x + bias
    return x.softmax(-1)


def main():
    x, m, b = torch.randn(4, 8), torch.ones(4, 8), torch.zeros(8)
    attend(x)
    attend(x, m)
    attend(x, bias=b)
    attend(x, m, b)


if __name__ == "__main__":
    main()
