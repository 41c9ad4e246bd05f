import torch
import torch.nn as nn

KEYS = ("user", "item", "ctx")


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Linear(4, 8)
        self.item = nn.Linear(4, 8)
        self.ctx = nn.Linear(4, 8)

    def forward(self, features):
        out = 0
        for name, value in features.items():
            out = out + getattr(self, name)(value)
        return out.sum(-1)


class Server:
    def __init__(self):
        self.model = Ranker().eval()
        self.predict = torch.compile(self.model)

    def handle(self, request):
        features = {k: torch.tensor(request.get(k, [0.0] * 4)) for k in KEYS}
        with torch.no_grad():
            return self.predict(features)


def main():
    server = Server()
    vec = [0.1, 0.2, 0.3, 0.4]
    for r in [{"user": vec}, {"user": vec, "item": vec}, {"item": vec}, {"ctx": vec}]:
        server.handle(r)


if __name__ == "__main__":
    main()
