import math
import torch


@torch.compile
def sgd_step(params, grads, lr):
    return [p - lr * g for p, g in zip(params, grads)]


def cosine(step, total, base=0.1):
    return base * 0.5 * (1 + math.cos(math.pi * step / total))


def main():
    torch.manual_seed(0)
    params = [torch.randn(8, 4), torch.randn(8)]
    target = [torch.zeros(8, 4), torch.zeros(8)]
    for step in range(10):
        grads = [p - t for p, t in zip(params, target)]
        params = sgd_step(params, grads, cosine(step, 10))
    print(sum(p.norm().item() for p in params))


if __name__ == "__main__":
    main()
