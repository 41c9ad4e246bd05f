from dataclasses import dataclass, replace
import torch


@dataclass
class Sampling:
    temperature: float = 1.0
    top_k: int = 5
    greedy: bool = False


@torch.compile
def pick(logits, cfg):
    if cfg.greedy:  # recompile
        return logits.argmax(-1, keepdim=True)
    values, idx = torch.topk(logits / cfg.temperature, cfg.top_k)  # recompile
    choice = torch.argmax(values + torch.rand_like(values), -1, keepdim=True)
    return idx.gather(-1, choice)


def main():
    torch.manual_seed(0)
    logits = torch.randn(3, 40)
    cfg = Sampling()
    for k in (5, 10, 20, 30):
        print(k, pick(logits, replace(cfg, top_k=k)).flatten().tolist())  # recompile
    print(pick(logits, Sampling(greedy=True)).flatten().tolist())  # recompile


if __name__ == "__main__":
    main()
