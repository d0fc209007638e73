#!/bin/sh
# Resolves requirements/*.in and setup.cfg into lock files with hashes, for Python 3.10 to 3.12.
set -eu
cd "$(dirname "$0")/.."
lock() { uv pip compile --quiet --universal --generate-hashes --no-header "$@"; }
lock --python-version 3.10 -o requirements/lock.txt src/bbllm/setup.py requirements/ros.in requirements/dev.in
lock --python-version 3.12 --no-emit-package numpy --no-emit-package setuptools \
  -o requirements/system.txt src/bbllm/setup.py requirements/dev.in requirements/system.in
lock --python-version 3.10 -o requirements/uv.txt requirements/uv.in
