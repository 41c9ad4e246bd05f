import contextlib
import torch
import torch.nn as nn

net = torch.compile(nn.Linear(4, 4))


def run(x, train, amp):
    with contextlib.ExitStack() as stack:
        if not train:
            stack.enter_context(torch.no_grad())
        if amp:
            stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))  # recompile
        return net(x)


x = torch.randn(2, 4)
for train in (True, False):
    for amp in (True, False):
        run(x, train, amp)
