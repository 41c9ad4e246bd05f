import torch

LOSSES = {"l1": 1.0, "l2": 0.0, "cos": 0.0}


@torch.compile
def total(pred, target, weights):  # recompile
    loss = 0.0
    if weights["l1"] > 0:  # recompile
        loss = loss + weights["l1"] * (pred - target).abs().mean()
    if weights["l2"] > 0:
        loss = loss + weights["l2"] * (pred - target).square().mean()
    if weights["cos"] > 0:
        loss = loss + weights["cos"] * (1 - torch.cosine_similarity(pred, target).mean())
    return loss


def schedule(epoch):
    return {"l1": 1.0, "l2": 0.1 * epoch, "cos": 0.0 if epoch < 3 else 0.5}


def main():
    for epoch in range(5):
        pred, target = torch.randn(4, 8, requires_grad=True), torch.randn(4, 8)
        total(pred, target, schedule(epoch)).backward()


main()
