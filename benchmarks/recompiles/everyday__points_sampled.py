import torch


@torch.compile(dynamic=False)  # recompile
def chamfer(a, b):  # recompile
    d = torch.cdist(a, b)
    return d.min(0).values.mean() + d.min(1).values.mean()


def subsample(points, n):
    return points[torch.randperm(points.shape[0])[:n]]


def main():
    cloud = torch.randn(200, 3)
    target = torch.randn(64, 3)
    for n in (50, 100, 150):
        chamfer(subsample(cloud, n), target)


main()
