import torch

GROUPS = torch.tensor([0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3])


@torch.compile(dynamic=False)  # recompile
def auc(scores, labels):  # recompile
    pos, neg = scores[:, None], scores[None, :]
    return ((pos > neg) * (labels[:, None] > labels[None, :])).float().mean()


def per_group(scores, labels, groups):
    out = {}
    for g in groups.unique().tolist():
        keep = groups == g
        out[g] = auc(scores[keep], labels[keep])
    return out


per_group(torch.randn(14), torch.randint(0, 2, (14,)), GROUPS)
