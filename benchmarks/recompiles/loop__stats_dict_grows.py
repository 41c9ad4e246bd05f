import torch


@torch.compile
def summarize(metrics):  # recompile
    means = {k: v.mean() for k, v in metrics.items()}  # recompile
    return sum(means.values())


def main():
    torch.manual_seed(0)
    metrics = {}
    for epoch in range(5):
        metrics[f"epoch_{epoch}"] = torch.rand(10)  # recompile
        print(epoch, summarize(metrics).item())  # recompile


if __name__ == "__main__":
    main()
