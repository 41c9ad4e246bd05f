"""The attention mask is None, bool or float, by caller."""
import torch
import torch.nn.functional as F


@torch.compile
def attend(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # recompile


def make_model():
    return attend


def batches():
    q = torch.randn(1, 2, 4, 8)
    b = torch.ones(4, 4, dtype=torch.bool).tril()
    f = torch.zeros(4, 4)
    return [(q, q + 1, q - 1, m) for m in (None, b, f, f.double().float()[None], None, b)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
