"""A little inference server: each request names its head."""
import torch
from torch import nn

REQUESTS = [
    {"task": "rank", "payload": 3},
    {"task": "tag", "payload": 5},
    {"task": "rank", "payload": 2},
    {"task": "summarise", "payload": 7},
    {"task": "translate", "payload": 7},
]


class MultiHead(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(6, 6)
        self.heads = nn.ModuleDict({t: nn.Linear(6, 2) for t in tasks})

    def forward(self, x, task):  # recompile
        return self.heads[task](torch.relu(self.trunk(x)))  # recompile


class Server:
    def __init__(self):
        tasks = sorted({r["task"] for r in REQUESTS})
        self.model = torch.compile(MultiHead(tasks).eval())

    @torch.inference_mode()
    def handle(self, request):
        x = torch.full((4, 6), float(request["payload"]))
        return self.model(x, request["task"])  # recompile


def main():
    server = Server()
    for r in REQUESTS:
        server.handle(r)


main()
