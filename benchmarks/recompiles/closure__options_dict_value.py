"""A captured options dict; the caller writes a new string into it."""
import torch
import torch.nn.functional as F


def make_model():
    options = {"reduction": "mean"}

    @torch.compile
    def loss(pred, target):
        err = F.smooth_l1_loss(pred, target, reduction=options["reduction"])  # recompile
        return err * 0.5

    def run(pred, target, how):
        options["reduction"] = how  # recompile
        return loss(pred, target)
    return run


def batches():
    p, t = torch.randn(2, 6)
    return [(p, t, h) for h in ("mean", "sum", "none", "sum", "mean")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
