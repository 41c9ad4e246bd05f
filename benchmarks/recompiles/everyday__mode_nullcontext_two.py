import contextlib
import torch
import torch.nn as nn

net = torch.compile(nn.Linear(4, 4))


def run(x, amp):
    ctx = torch.autocast("cpu", dtype=torch.bfloat16) if amp else contextlib.nullcontext()
    with ctx:
        return net(x)


x = torch.randn(2, 4)
for amp in (True, False):
    for _ in range(3):
        run(x, amp)
