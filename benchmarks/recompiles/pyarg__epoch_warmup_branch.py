"""The epoch is compared with several milestones inside the compiled loss."""
import torch
import torch.nn.functional as F


def make_model():
    @torch.compile
    def loss(pred, tgt, epoch):
        base = F.mse_loss(pred, tgt)
        if epoch >= 10:  # recompile
            base = base + pred.abs().mean()
        if epoch >= 20:  # recompile
            base = base + 0.1 * pred.pow(2).sum()
        if epoch >= 30:  # recompile
            base = base * 0.5
        return base
    return loss


def batches():
    return [(torch.randn(4, 3), torch.randn(4, 3), e) for e in (2, 5, 12, 22, 35, 36)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
