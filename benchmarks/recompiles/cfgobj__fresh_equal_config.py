"""A new but equal frozen config object is built for every call."""
from dataclasses import dataclass
import torch


@dataclass(frozen=True)
class NoiseCfg:
    sigma_min: float = 0.002
    sigma_max: float = 80.0
    rho: int = 7


@torch.compile
def sigmas(u, cfg):
    lo, hi = cfg.sigma_min ** (1 / cfg.rho), cfg.sigma_max ** (1 / cfg.rho)
    return (hi + u * (lo - hi)) ** cfg.rho


def make_model():
    def run(u):
        return sigmas(u, NoiseCfg(rho=7))
    return run


def batches():
    return [(torch.rand(10),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
