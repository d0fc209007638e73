"""
Build backend of the repository's root: `pip install .` builds the package in src/bbllm.

The package's own folder holds its metadata in setup.cfg, where colcon needs it.
"""

from __future__ import annotations

import os
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

# Installers run each hook in a process of its own, in the root of the repository.
os.chdir(Path(__file__).resolve().parent.parent / 'src' / 'bbllm')
