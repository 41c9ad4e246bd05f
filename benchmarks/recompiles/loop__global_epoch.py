import torch

EPOCH = 0


@torch.compile
def kl_weighted(recon, kl):  # recompile
    beta = min(1.0, EPOCH / 4)  # recompile
    return recon.mean() + beta * kl.mean()


def main():
    global EPOCH
    torch.manual_seed(0)
    for epoch in range(7):
        EPOCH = epoch  # recompile
        for _ in range(2):
            loss = kl_weighted(torch.rand(8), torch.rand(8))  # recompile
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
