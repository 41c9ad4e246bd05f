"""Time-major and batch-major spectrograms of the same sizes reach one compiled function: layouts differ."""
import torch


@torch.compile
def mel_log(spec):  # recompile
    return spec.clamp(min=1e-5).log().mean(-1)


def make_model():
    def run(spec, layout):
        if layout == "tf":
            spec = spec.transpose(1, 2)
        elif layout == "bt":
            spec = spec.transpose(0, 1)
        elif layout == "rev":
            spec = spec.permute(2, 1, 0)
        return mel_log(spec)  # recompile
    return run


def batches():
    s = torch.rand(6, 6, 6)
    return [(s, l) for l in ("no", "tf", "bt", "rev", "no", "tf")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
