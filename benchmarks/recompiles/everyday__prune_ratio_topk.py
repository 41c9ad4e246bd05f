import torch
import torch.nn as nn


def magnitude_mask(w, ratio):  # recompile
    k = int(w.numel() * ratio)  # recompile
    if k == 0:
        return torch.ones_like(w)
    thr = w.abs().flatten().kthvalue(k).values
    return (w.abs() > thr).float()


mask_fn = torch.compile(magnitude_mask)


def gradual_prune(layer, ratios):
    for r in ratios:
        layer.weight.data.mul_(mask_fn(layer.weight.data, r))


gradual_prune(nn.Linear(16, 16), [0.1, 0.3, 0.5, 0.7])
