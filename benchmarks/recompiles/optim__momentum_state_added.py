"""Hand-written momentum: state dict entries are made on the first step; a warmup int sets how many layers step."""
import torch


def make_model():
    params = [torch.randn(4) for _ in range(5)]
    state = {}

    @torch.compile
    def step(grads):
        for i, g in enumerate(grads):  # recompile
            if i not in state:  # recompile
                state[i] = torch.zeros_like(params[i])
            state[i] = 0.9 * state[i] + g
            params[i].sub_(0.1 * state[i])

    def run(k):
        step([torch.ones(4) for _ in range(k)])
    return run


def batches():
    return [(k,) for k in (1, 2, 3, 4, 5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
