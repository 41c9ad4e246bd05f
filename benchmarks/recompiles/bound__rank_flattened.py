"""Leading dims are flattened outside the compiled function, which sees rank 2 always."""
import torch


@torch.compile
def layer_scale(x, gamma):
    mu = x.mean(-1, keepdim=True)
    return gamma * (x - mu) / (x.var(-1, keepdim=True) + 1e-5).sqrt()


def make_model():
    return lambda x, g: layer_scale(x.reshape(-1, 8), g).view(x.shape)


def batches():
    g = torch.ones(8)
    return [(torch.randn(*s, 8), g) for s in ((5,), (4,), (2, 4), (2, 3, 4), (3, 3), (2, 7))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
