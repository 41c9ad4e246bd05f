"""Labels of several dtypes are made one before the call."""
import torch


@torch.compile
def loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels)


def main():
    for dtype in (torch.int32, torch.int64, torch.uint8, torch.int16):
        labels = torch.randint(0, 3, (5,)).to(dtype)
        loss(torch.randn(5, 3), labels.long())


main()
