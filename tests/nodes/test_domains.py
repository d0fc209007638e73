from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from bbllm.nodes.domains import own_domain


def test_processes_with_other_folders_for_temporary_files_meet_nobody_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_domain() as first:
        # As in the workers of a bench.
        monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
        with own_domain() as second:
            assert second != first
