import argparse
import torch
import torch.nn as nn

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=4)
    p.add_argument("--width", type=int, default=8)
    return p.parse_args([])


@torch.compile
def scale_rows(x):  # recompile
    return x / (x.abs().amax(-1, keepdim=True) + 1e-3)


def main():
    args = parse()
    for name, dtype in DTYPES.items():
        for step in range(args.steps):
            x = torch.randn(args.steps, args.width).to(dtype)
            y = scale_rows(x)
        print(name, y.dtype)


main()
