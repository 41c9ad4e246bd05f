#!/usr/bin/env bash
# Build the source distribution, and the wheel from it: scripts/build.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:?scripts/build.sh FOLDER}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet build
"$work/env/bin/python" -m build --outdir "$out" .
