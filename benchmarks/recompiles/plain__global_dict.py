"""Settings in a dict."""
import torch

SETTINGS = {"topk": 1}


@torch.compile
def best(x):
    return x.topk(SETTINGS["topk"]).values  # recompile


def main():
    x = torch.randn(16)
    for k in (1, 2, 4, 8):
        SETTINGS["topk"] = k  # recompile
        best(x)


if __name__ == "__main__":
    main()
