"""NMS-like loop: the kept count is made a Python int in eager code and loops in the resumed part."""
import torch


@torch.compile
def keep_boxes(scores, boxes):
    n = (scores > 0).sum().item()
    out = boxes.new_zeros(4)
    for i in range(n):  # recompile
        out = torch.maximum(out, boxes[i])
    return out


def make_model():
    return keep_boxes


def batches():
    b = torch.rand(8, 4)
    return [(torch.cat([torch.ones(k), -torch.ones(8 - k)]), b) for k in (2, 4, 3, 6, 5, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
