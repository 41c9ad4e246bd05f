import torch


def cosine(start, end, n):
    for i in range(n):
        yield end + (start - end) * (1 - i / n)


@torch.compile
def soften(logits, tau):
    return (logits / tau).softmax(-1)


for tau in cosine(1.0, 0.1, 5):
    soften(torch.randn(3, 4), tau)
