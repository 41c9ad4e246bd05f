"""A config object whose string is changed by the experiment."""
import torch


class Config:
    def __init__(self):
        self.act = "relu"
        self.scale = 2.0


@torch.compile
def layer(x, cfg):
    if cfg.act == "relu":  # recompile
        x = x.relu()
    elif cfg.act == "tanh":  # recompile
        x = x.tanh()
    else:
        x = x.sigmoid()
    return x * cfg.scale


def main():
    cfg = Config()
    x = torch.randn(4)
    for act in ("relu", "tanh", "sigmoid"):
        cfg.act = act  # recompile
        layer(x, cfg)  # recompile


if __name__ == "__main__":
    main()
