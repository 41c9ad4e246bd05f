import contextlib
import torch
import torch.nn as nn


class Runner:
    def __init__(self, model, precision):
        self.model = model
        self.ctx = {
            "fp32": contextlib.nullcontext(),
            "bf16": torch.autocast("cpu", dtype=torch.bfloat16),
            "fp16": torch.autocast("cpu", dtype=torch.float16),
        }[precision]

    def __call__(self, x):
        with self.ctx, torch.no_grad():
            return self.model(x)  # recompile


model = torch.compile(nn.Linear(8, 8))
for precision in ("fp32", "bf16", "fp16"):
    runner = Runner(model, precision)
    for _ in range(2):
        runner(torch.randn(2, 8))
