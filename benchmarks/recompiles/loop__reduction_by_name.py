import torch
import torch.nn.functional as F


@torch.compile
def loss_fn(pred, target, kind):  # recompile
    if kind == "mse":  # recompile
        return F.mse_loss(pred, target)
    elif kind == "l1":
        return F.l1_loss(pred, target)
    elif kind == "huber":
        return F.huber_loss(pred, target)
    return F.smooth_l1_loss(pred, target)


def main():
    torch.manual_seed(0)
    pred, target = torch.randn(32), torch.randn(32)
    report = {}
    for kind in ("mse", "l1", "huber", "smooth_l1"):
        report[kind] = loss_fn(pred, target, kind).item()  # recompile
    print(report)


if __name__ == "__main__":
    main()
