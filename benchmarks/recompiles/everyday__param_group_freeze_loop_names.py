import torch
import torch.nn as nn

model = nn.ModuleDict({"enc": nn.Linear(4, 8), "mid": nn.Linear(8, 8), "dec": nn.Linear(8, 4)})


@torch.compile
def forward(m, x):  # recompile
    return m["dec"](torch.relu(m["mid"](torch.relu(m["enc"](x)))))


schedule = [("dec",), ("dec", "mid"), ("dec", "mid", "enc")]
for phase, names in enumerate(schedule):
    for name, p in model.named_parameters():
        p.requires_grad_(name.split(".")[0] in names)  # recompile
    for _ in range(2):
        loss = forward(model, torch.randn(3, 4)).pow(2).sum()
        loss.backward()
        for p in model.parameters():
            p.grad = None
