"""The number of repeats differs from call to call and is the length of a Python loop."""
import torch


class Env:
    def __init__(self):
        self.repeat = 1

    @torch.compile
    def step(self, s):
        for _ in range(self.repeat):  # recompile
            s = s * 0.9 + 1
        return s


env = Env()
s = torch.zeros(3)
for r in (1, 2, 4, 8):
    env.repeat = r  # recompile
    s = env.step(s)
