import torch


@torch.compile
def clip_grads(grads, max_norm):  # recompile
    total = torch.sqrt(sum(g.square().sum() for g in grads))
    if max_norm > 1.0:  # recompile
        return [g / total.clamp(min=1.0) * max_norm for g in grads]
    return [g * (max_norm / (total + 1e-6)).clamp(max=1.0) for g in grads]


def main():
    torch.manual_seed(0)
    grads = [torch.randn(4, 4), torch.randn(4)]
    for max_norm in (0.25, 0.5, 0.75, 1.5, 2.0, 2.5):
        out = clip_grads(grads, max_norm)  # recompile
        print(max_norm, out[0].norm().item())


if __name__ == "__main__":
    main()
