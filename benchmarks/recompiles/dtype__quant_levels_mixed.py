"""Weights arrive as int8, uint8, fp16, bf16 or fp32 depending on the layer's quantisation."""
import torch


@torch.compile
def dequant_matmul(x, w, scale):
    return x @ (w.to(x.dtype) * scale)  # recompile


def make_model():
    return dequant_matmul


def batches():
    x, s = torch.randn(4, 8), torch.tensor(0.1)
    ds = (torch.int8, torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.int8)
    return [(x, torch.ones(8, 4, dtype=d), s) for d in ds]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
