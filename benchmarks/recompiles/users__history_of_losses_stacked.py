"""The history is kept in a ring of fixed size."""
import torch


@torch.compile
def smooth(ring, decay):
    weights = decay ** torch.arange(ring.shape[0])
    return (ring * weights).sum() / weights.sum()


def main():
    decay = torch.tensor(0.9)
    ring = torch.zeros(8)
    for step in range(6):
        ring[step % 8] = torch.rand(())
        smooth(ring, decay)


main()
