"""The head is chosen outside the compiled trunk; each head is eager."""
import torch
from torch import nn

REQUESTS = [
    {"task": "rank", "payload": 3},
    {"task": "tag", "payload": 5},
    {"task": "rank", "payload": 2},
    {"task": "summarise", "payload": 7},
    {"task": "translate", "payload": 7},
]


class Server:
    def __init__(self):
        tasks = sorted({r["task"] for r in REQUESTS})
        self.trunk = torch.compile(nn.Sequential(nn.Linear(6, 6), nn.ReLU()).eval())
        self.heads = {t: nn.Linear(6, 2) for t in tasks}

    @torch.inference_mode()
    def handle(self, request):
        x = torch.full((4, 6), float(request["payload"]))
        return self.heads[request["task"]](self.trunk(x))


def main():
    server = Server()
    for r in REQUESTS:
        server.handle(r)


main()
