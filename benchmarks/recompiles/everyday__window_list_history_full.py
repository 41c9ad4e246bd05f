import collections
import torch


@torch.compile
def smooth(history):
    w = torch.softmax(torch.arange(history.shape[0], dtype=torch.float32), 0)
    return (history * w[:, None]).sum(0)


def main():
    history = collections.deque([torch.zeros(4)] * 8, maxlen=8)
    for t in range(6):
        history.append(torch.randn(4))
        smooth(torch.stack(list(history)))


main()
