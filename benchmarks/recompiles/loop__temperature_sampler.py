import torch


@torch.compile(fullgraph=True)
def sample_probs(logits, temperature):
    return torch.softmax(logits / temperature, dim=-1)


def main():
    torch.manual_seed(0)
    logits = torch.randn(4, 50)
    out = []
    for temperature in (0.7, 0.8, 0.9, 1.1, 1.3):
        probs = sample_probs(logits, temperature)
        out.append(torch.multinomial(probs, 1))
    print(torch.cat(out, 1).tolist())


if __name__ == "__main__":
    main()
