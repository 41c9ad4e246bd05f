"""Images are put together by size before they are stacked."""
import torch


@torch.compile(dynamic=False)  # recompile
def features(batch):  # recompile
    return batch.flatten(2).std(-1)  # recompile


def main():
    images = [torch.randn(3, s, s) for s in (8, 12, 8, 16, 12, 20)]
    by_size = {}
    for image in images:
        by_size.setdefault(image.shape[-1], []).append(image)
    for size in sorted(by_size):
        features(torch.stack(by_size[size]))  # recompile


main()
