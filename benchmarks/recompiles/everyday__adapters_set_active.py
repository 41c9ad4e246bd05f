import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, dim, names, rank=2):
        super().__init__()
        self.base = nn.Linear(dim, dim)
        self.A = nn.ParameterDict({n: nn.Parameter(torch.randn(rank, dim)) for n in names})
        self.B = nn.ParameterDict({n: nn.Parameter(torch.zeros(dim, rank)) for n in names})
        self.active = None

    def forward(self, x):
        y = self.base(x)
        if self.active is not None:  # recompile
            y = y + x @ self.A[self.active].T @ self.B[self.active].T
        return y


class Model(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.l1 = LoRALinear(8, names)
        self.l2 = LoRALinear(8, names)

    def set_adapter(self, name):
        for m in self.modules():
            if isinstance(m, LoRALinear):
                m.active = name

    def forward(self, x):  # recompile
        return self.l2(self.l1(x).relu())


def main():
    names = ["fr", "de", "it"]
    model = Model(names)
    serve = torch.compile(model)
    with torch.no_grad():
        for request in ["fr", "de", None, "it", "fr"]:
            model.set_adapter(request)
            serve(torch.randn(2, 8))


main()
