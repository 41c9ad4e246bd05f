import torch


@torch.compile
def write_cache(cache, new, pos):  # recompile
    cache[:, pos] = new  # recompile
    return cache.sum(dim=1) / (pos + 1)


def main():
    torch.manual_seed(0)
    prompt_len = 5
    cache = torch.zeros(2, 16, 8)
    cache[:, :prompt_len] = torch.randn(2, prompt_len, 8)
    h = torch.randn(2, 8)
    for pos in range(prompt_len, 14):
        h = h + write_cache(cache, torch.tanh(h), pos)  # recompile
    print(h.norm().item())


if __name__ == "__main__":
    main()
