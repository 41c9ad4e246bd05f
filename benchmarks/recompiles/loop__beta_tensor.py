import torch

BETA = torch.zeros(())


@torch.compile
def kl_weighted(recon, kl):
    return recon.mean() + BETA * kl.mean()


def main():
    torch.manual_seed(0)
    for epoch in range(7):
        BETA.fill_(min(1.0, epoch / 4))
        for _ in range(2):
            loss = kl_weighted(torch.rand(8), torch.rand(8))
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
