#!/usr/bin/env bash
# Run the tests that need no torch on every Python this project supports, with deprecations as errors.
#
#   scripts/test_pythons.sh                     # 3.10 to 3.13, those the machine has
#   scripts/test_pythons.sh 3.12 3.13           # only these; one that is missing is an error
#   PYTEST_ARGS='-k config' scripts/test_pythons.sh
#
# Interpreters are looked for on PATH, then among pyenv's. Environments are kept in $TCLINT_VENVS (default
# ~/.cache/tclint-pythons) and reused. A version that fails does not stop the others; the exit code says whether one did.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wanted=("$@")
[[ $# -eq 0 ]] && wanted=(3.10 3.11 3.12 3.13)
venvs=${TCLINT_VENVS:-$HOME/.cache/tclint-pythons}

find_python() {
    local candidate
    for candidate in "$(command -v "python$1")" "$HOME"/.pyenv/versions/"$1".*/bin/python3; do
        # A pyenv shim is on PATH for versions that are not active: only one that answers counts.
        if [[ -x $candidate ]] && "$candidate" -c '' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

summary=()
status=0
for version in "${wanted[@]}"; do
    if ! python=$(find_python "$version"); then
        summary+=("$version: no interpreter found")
        # Asked for by name, a missing one is a failure; otherwise it is only said.
        [[ $# -gt 0 ]] && status=1
        continue
    fi
    env=$venvs/$version
    echo "== Python $version: $python, $env"
    if ! { [[ -x $env/bin/python ]] || "$python" -m venv "$env"; } ||
        ! "$env/bin/python" -m pip install -q --disable-pip-version-check \
            'click>=8.1' 'libcst>=1.5' 'pathspec>=0.12' 'rich>=13' "tomli>=2; python_version < '3.11'" \
            'pytest>=8' 'hypothesis>=6' jsonschema xmlschema pytest-xdist 'setuptools>=77' 'pygls>=2' build numpy; then
        summary+=("$version: could not be set up")
        status=1
        continue
    fi
    # shellcheck disable=SC2086 # PYTEST_ARGS is a list of words
    if PYTHONPATH=$PWD nice "$env/bin/python" -W error::DeprecationWarning -W error::SyntaxWarning \
        -m pytest -q -p no:cacheprovider -n 2 \
        -W error::DeprecationWarning -W error::PendingDeprecationWarning -W error::SyntaxWarning ${PYTEST_ARGS:-}; then
        summary+=("$version: passed ($("$env/bin/python" -V))")
    else
        summary+=("$version: FAILED ($("$env/bin/python" -V))")
        status=1
    fi
done

printf '%s\n' "${summary[@]}"
exit $status
