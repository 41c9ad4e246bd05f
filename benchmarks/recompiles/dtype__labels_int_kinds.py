"""Labels from two datasets: int32 and int64."""
import torch
import torch.nn.functional as F


@torch.compile
def loss(logits, y):
    return F.cross_entropy(logits, y.long())


def make_model():
    return loss


def batches():
    l = torch.randn(6, 4)
    return [(l, torch.randint(0, 4, (6,), dtype=torch.int32 if i % 2 else torch.int64)) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
