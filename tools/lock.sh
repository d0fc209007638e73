#!/bin/sh
# Resolves requirements/*.in and setup.cfg into lock files with hashes, for Python 3.10 to 3.12.
set -eu
cd "$(dirname "$0")/.."
lock() { uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header "$@"; }
lock -o requirements/lock.txt src/bbllm/setup.py requirements/ros.in requirements/dev.in
lock -o requirements/uv.txt requirements/uv.in
