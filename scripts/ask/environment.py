"""An environment with one release of torch, on a machine without a CUDA device.

    python scripts/ask/environment.py 2.16.0 FOLDER

Wheels from the index are built for CUDA and want a gigabyte of libraries that a run on the CPU never calls. Two small ones
are installed (the CUDA runtime and CUPTI run on import); for the others empty stand-ins are compiled with gcc.
"""

from __future__ import annotations

import collections
import re
import subprocess
import sys
from pathlib import Path

BESIDE = "filelock typing_extensions sympy==1.13.3 mpmath networkx jinja2 markupsafe fsspec numpy==2.2.6 einops expecttest setuptools"
SYSTEM = ("libc.so", "libm.so", "libpthread", "libdl", "libstdc++", "libgcc", "ld-linux", "librt", "libcuda.so.1")
SYMBOL = re.compile(
    r" UND ((?:nvshmem|nvtx|cudnn|nccl|cublas|cufft|cusparse|cusolver|curand|nvrtc|nvJit|cuFile|nvml|cu[A-Z])\w+)(?:@(\S+))?"
)


def install(version: str, folder: Path) -> Path:
    """The interpreter of an environment that has this torch; made where it is missing."""
    home = folder / version
    python = home / "bin" / "python"
    if (home / "done").exists():
        return python
    run(sys.executable, "-m", "venv", str(home))
    pip = [str(python), "-m", "pip", "install", "-q", "--no-cache-dir", "--no-deps"]
    run(*pip, f"torch=={version}", *BESIDE.split())
    site = next(home.glob("lib/python3.*/site-packages"))
    wanted = cuda_packages(next(site.glob("torch-*.dist-info/METADATA")).read_text())
    if wanted:
        run(*pip, *wanted)
        stand_in(site)
    run(str(python), "-c", "import torch; torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2))")
    (home / "done").touch()
    return python


def cuda_packages(metadata: str) -> list[str]:
    """The two libraries that are loaded on import, in the versions that the wheel names."""
    exact = re.findall(r"(nvidia-cuda-(?:runtime|cupti)-cu\d+) ?\(?(==[\d.]+)", metadata)
    if exact:
        return [name + version for name, version in exact]
    toolkit = re.search(r"cuda-toolkit\[[^\]]*\]==(\d+\.\d+)", metadata)
    return [f"nvidia-cuda-{name}=={toolkit[1]}.*" for name in ("runtime", "cupti")] if toolkit else []


def stand_in(site: Path) -> None:
    """Compile an empty library for each one that torch's own want and nobody has."""
    home = site / "torch" / "lib"
    needed: set[str] = set()
    symbols: dict[str, set[str]] = collections.defaultdict(set)
    versions: dict[str, set[str]] = collections.defaultdict(set)
    for library in home.glob("*.so*"):
        needed |= set(re.findall(r"NEEDED\).*\[(.*)\]", told("readelf", "-d", str(library))))
        for symbol, version in SYMBOL.findall(told("readelf", "--dyn-syms", "-W", str(library))):
            symbols[version].add(symbol)
        file = None
        for line in told("readelf", "-V", "-W", str(library)).splitlines():
            if found := re.search(r"File: (\S+)", line):
                file = found[1]
            elif (found := re.search(r"Name: (\S+)", line)) and file:
                versions[file].add(found[1])
    have = {path.name for path in [*site.glob("nvidia/*/lib/*.so*"), *home.glob("*")]}
    for name in sorted(needed - have):
        if not name.startswith(SYSTEM):
            compile_empty(home / name, sorted(versions[name]), symbols)


def compile_empty(path: Path, versions: list[str], symbols: dict[str, set[str]]) -> None:
    names = sorted(set().union(*(symbols[v] for v in versions))) if versions else sorted(symbols[""])
    source = "".join(f"int {name}(void){{return 999;}}\n" for name in names)
    script = path.with_suffix(".map")
    script.write_text(
        "".join(
            f"{v} {{ {'global: ' if symbols[v] else ''}{' '.join(s + ';' for s in sorted(symbols[v]))} }};\n"
            for v in versions
        )
    )
    versioned = [f"-Wl,--version-script,{script}"] if versions else []
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", f"-Wl,-soname,{path.name}", *versioned, "-o", str(path)]
    subprocess.run(command, check=True, input=source, text=True)
    script.unlink()


def told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout


def run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    print(install(sys.argv[1], Path(sys.argv[2])))
