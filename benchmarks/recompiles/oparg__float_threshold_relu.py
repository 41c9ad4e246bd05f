"""F.threshold with a cut that the caller sweeps."""
import torch
import torch.nn.functional as F


def sparsify(h, w, cut):
    h = torch.einsum("bd,de->be", h, w)
    return F.threshold(h, cut, 0.0)  # recompile


def make_model():
    w = torch.randn(12, 20)
    fn = torch.compile(sparsify)
    return lambda h, cut: fn(h, w, cut)


def batches():
    h = torch.randn(5, 12)
    return [(h, 0.05 + 0.1 * i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
