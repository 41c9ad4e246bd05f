#!/usr/bin/env bash
# Install the wheel of a folder in a fresh environment and use it, away from the sources: scripts/try_wheel.sh FOLDER [WORK]
# WORK is kept, with the environment in WORK/env; without it all is gone afterwards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wheel=$(ls "${1:?scripts/try_wheel.sh FOLDER}"/*.whl)
python=${PYTHON:-python3}
command -v "$python" >/dev/null || python=python
if [[ $# -gt 1 ]]; then
    work=$2
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
cp -R fixtures/demo fixtures/demo_fixed "$work"
"$python" -m venv "$work/env"
bin=$work/env/bin
[[ -d $bin ]] || bin=$work/env/Scripts
"$bin/python" -m pip install --quiet "$wheel"
cd "$work"
"$bin/tclint" --version
"$bin/torch-compile-lint" demo_fixed --no-cache
if "$bin/tclint" demo --no-cache --quiet; then
    echo "try_wheel: the demo has hazards, and none was found" >&2
    exit 1
fi
