"""
Build backend of the repository's root: `pip install .` builds the package in src/bbllm.

The package's own folder holds its metadata in setup.cfg, where colcon needs it. The build folder
is a temporary one, so that files of an earlier build never get into a wheel.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    'build_editable',
    'build_sdist',
    'build_wheel',
    'get_requires_for_build_editable',
    'get_requires_for_build_sdist',
    'get_requires_for_build_wheel',
    'prepare_metadata_for_build_editable',
    'prepare_metadata_for_build_wheel',
]


def _enter_package() -> None:
    """Work in the package's folder; installers run each hook in a process of its own."""
    scratch = Path(tempfile.mkdtemp(prefix='bbllm-build-'))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    config = scratch / 'build.cfg'
    config.write_text(f'[build]\nbuild_base = {scratch / "build"}\n', encoding='utf-8')
    os.environ['DIST_EXTRA_CONFIG'] = str(config)
    os.chdir(Path(__file__).resolve().parent.parent / 'src' / 'bbllm')


_enter_package()
