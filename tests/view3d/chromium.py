"""Pages in a headless Chromium, by its command line alone; tests that need one skip without it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
OPTIONS = (
    *('--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-sync'),
    *('--disable-background-networking', '--disable-component-update'),
    *('--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'),
)
PATIENCE_S = 120


def dom_of(page: Path, tmp_path: Path, *, budget_ms: int = 5000) -> str:
    """Return a page as it is once its scripts have run for so much of its own time."""
    return _run(page, tmp_path, f'--virtual-time-budget={budget_ms}', '--dump-dom')


def picture_of(page: Path, tmp_path: Path, *, budget_ms: int = 5000) -> Path:
    """Return a screenshot of a page."""
    target = tmp_path / f'{page.stem}.png'
    size = '--window-size=900,700'
    _run(page, tmp_path, f'--virtual-time-budget={budget_ms}', size, f'--screenshot={target}')
    return target


def _run(page: Path, tmp_path: Path, *options: str) -> str:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        if 'chromium' in os.environ.get('BBLLM_REQUIRE', '').split(','):
            pytest.fail(f'none of {", ".join(NAMES)} is on the PATH, and BBLLM_REQUIRE names one')
        pytest.skip(f'none of {", ".join(NAMES)} is on the PATH')
    command = [program, *OPTIONS, f'--user-data-dir={tmp_path / "profile"}', *options]
    run = subprocess.run(
        [*command, page.as_uri()], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
