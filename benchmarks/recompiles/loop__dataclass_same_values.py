from dataclasses import dataclass
import torch


@dataclass(frozen=True)
class Sampling:
    temperature: float = 1.0
    top_k: int = 5


@torch.compile
def pick(logits, cfg):
    values, idx = torch.topk(logits / cfg.temperature, cfg.top_k)
    choice = torch.argmax(values + torch.rand_like(values), -1, keepdim=True)
    return idx.gather(-1, choice)


def handle(request):
    cfg = Sampling(temperature=0.8, top_k=8)
    return pick(request["logits"], cfg)


def main():
    torch.manual_seed(0)
    for i in range(6):
        print(handle({"logits": torch.randn(3, 40)}).flatten().tolist())


if __name__ == "__main__":
    main()
