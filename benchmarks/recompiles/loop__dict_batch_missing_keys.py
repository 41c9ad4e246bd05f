import torch


@torch.compile
def embed(batch, table):
    out = table[batch["ids"]].mean(1)
    if "weights" in batch:
        out = out * batch["weights"]
    return out


def main():
    torch.manual_seed(0)
    table = torch.randn(50, 6)
    for step in range(8):
        batch = {"ids": torch.randint(0, 50, (4, 7))}
        if step % 3 == 0:
            batch["weights"] = torch.rand(4, 1)
        out = embed(batch, table)
    print(out.sum().item())


if __name__ == "__main__":
    main()
