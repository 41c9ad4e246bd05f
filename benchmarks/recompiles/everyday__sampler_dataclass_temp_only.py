from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class SampleConfig:
    temperature: float = 1.0
    top_k: int = 10
    greedy: bool = False


@torch.compile
def sample(logits, cfg):
    if cfg.greedy:
        return logits.argmax(-1)
    logits = logits / cfg.temperature
    top = logits.topk(cfg.top_k).values
    logits = logits.masked_fill(logits < top[..., -1:], float("-inf"))
    return logits.softmax(-1).argmax(-1)


def main():
    base = SampleConfig()
    logits = torch.randn(2, 40)
    for t in (0.5, 0.7, 0.9, 1.1):
        sample(logits, replace(base, temperature=t))


if __name__ == "__main__":
    main()
