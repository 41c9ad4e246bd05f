import contextlib
import torch
import torch.nn as nn


class Runner:
    def __init__(self, model, amp):
        self.model = model
        self.ctx = torch.autocast("cpu", dtype=torch.bfloat16) if amp else contextlib.nullcontext()

    def __call__(self, x):
        with self.ctx, torch.no_grad():
            return self.model(x)


model = torch.compile(nn.Linear(8, 8))
runner = Runner(model, amp=True)
for _ in range(5):
    runner(torch.randn(2, 8))
