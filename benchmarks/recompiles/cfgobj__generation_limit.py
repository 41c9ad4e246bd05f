"""An int on a generation config object changes from request to request and slices the logits."""
import torch


class GenConfig:
    def __init__(self):
        self.top = 4


@torch.compile
def best(logits, cfg):
    v = logits.sort(-1, descending=True).values
    return v[:, : cfg.top].softmax(-1)


def make_model():
    cfg = GenConfig()

    def run(logits, top):
        cfg.top = top
        return best(logits, cfg)
    return run


def batches():
    return [(torch.randn(4, 32), k) for k in (4, 6, 8, 5, 10, 12)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
