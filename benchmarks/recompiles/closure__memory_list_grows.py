"""A captured Python list of past states that the caller extends."""
import torch


def make_model():
    past = [torch.randn(2, 4)]

    @torch.compile
    def attend(q):
        mem = torch.stack(past, 1)  # recompile
        return (q.unsqueeze(1) * mem).softmax(1).sum(1)

    def run(q):
        out = attend(q)
        past.append(out.detach())  # recompile
        return out
    return run


def batches():
    return [(torch.randn(2, 4),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
