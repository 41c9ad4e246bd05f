import torch


@torch.compile
def fuse(features):  # recompile
    out = features[0]
    for f in features[1:]:  # recompile
        out = out + torch.tanh(f)
    return out / len(features)


def main():
    torch.manual_seed(0)
    history = []
    for t in range(6):
        history.append(torch.randn(3, 7))  # recompile
        state = fuse(history)  # recompile
    print(state.norm().item())


if __name__ == "__main__":
    main()
