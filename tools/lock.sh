#!/bin/sh
# Resolves requirements/*.in and setup.cfg into lock files with hashes, for Python 3.11 and 3.12.
set -eu
cd "$(dirname "$0")/.."
# Python itself is never fetched for this: the resolver only needs to know the version.
export UV_PYTHON_DOWNLOADS=never
lock() {
  uv pip compile --quiet --universal --generate-hashes --no-header "$@"
}
bbllm='src/bbllm/setup.py requirements/demo.in'
# shellcheck disable=SC2086  # several files
{
  lock --python-version 3.11 -o requirements/lock.txt $bbllm requirements/ros.in requirements/dev.in
  lock --python-version 3.12 --no-emit-package numpy --no-emit-package setuptools \
    -o requirements/system.txt $bbllm requirements/dev.in requirements/system.in
  # What of the two `make demo` installs.
  lock --python-version 3.11 -c requirements/lock.txt -o requirements/demo-lock.txt $bbllm
  lock --python-version 3.12 --no-emit-package numpy --no-emit-package setuptools \
    -c requirements/system.txt -o requirements/demo-system.txt $bbllm requirements/system.in
}
lock --python-version 3.11 -o requirements/uv.txt requirements/uv.in
# Beside either of the two, in the versions of those, and without what both have.
installed=$(sed -n 's/^\([a-z][a-z0-9._-]*\)==.*/--no-emit-package \1/p' requirements/system.txt)
# shellcheck disable=SC2086  # one option for each package
lock --python-version 3.11 -c requirements/lock.txt --no-emit-package numpy $installed \
  -o requirements/extras.txt requirements/extras.in
lock --python-version 3.11 --no-deps -o requirements/virtualhome.txt requirements/virtualhome.in
lock --python-version 3.11 --no-deps -o requirements/franka_sim.txt requirements/franka_sim.in
lock --python-version 3.11 --no-deps -o requirements/eai.txt requirements/eai.in
lock --python-version 3.11 -o requirements/eai_bench.txt requirements/eai_bench.in
lock --python-version 3.11 -o requirements/fci.txt requirements/fci.in
lock --python-version 3.11 -o requirements/libero.txt requirements/libero.in
lock --python-version 3.11 -o requirements/robouse.txt requirements/robouse.in
lock --python-version 3.11 -o requirements/docs.txt requirements/docs.in
lock --python-version 3.11 -o requirements/audit.txt requirements/audit.in
