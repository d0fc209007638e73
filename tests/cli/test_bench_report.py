"""`bbllm bench report`: makes summary and page of a folder anew."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bbllm.cli.main import app

sys.path.insert(0, str(Path(__file__).parent.parent / 'bench'))
sys.path.insert(0, str(Path(__file__).parent.parent / 'bench' / 'report'))

import made_up


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_up.write_run(tmp_path / 'run', made_up.make_settings(ks=[0, 1], trials=1))


def test_report_is_made_anew_from_the_results(folder: Path) -> None:
    before = (folder / 'summary.json').read_text()
    (folder / 'summary.json').write_text('{}')

    result = CliRunner().invoke(app, ['bench', 'report', str(folder)])

    assert result.exit_code == 0, result.output
    assert str(folder / 'report.html') in result.output
    assert result.output.splitlines()[-1].startswith('tabletop planner=brain_body')
    assert json.loads((folder / 'summary.json').read_text()) == json.loads(before)
    assert (folder / 'report.html').is_file()
    assert (folder / 'feedback.png').read_bytes().startswith(b'\x89PNG')


def test_json_names_both_files(folder: Path) -> None:
    result = CliRunner().invoke(app, ['bench', 'report', str(folder), '--json'])

    data = json.loads(result.stdout)
    assert data['report'] == str(folder / 'report.html')
    assert data['summary'] == str(folder / 'summary.json')


def test_open_shows_the_page_in_the_browser(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(webbrowser, 'open', lambda url: shown.append(url) or True)

    result = CliRunner().invoke(app, ['bench', 'report', str(folder), '--open'])

    assert result.exit_code == 0, result.output
    assert shown == [(folder / 'report.html').as_uri()]


def test_folder_that_holds_no_run_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ['bench', 'report', str(tmp_path)])

    assert result.exit_code != 0
    assert 'settings.json' in result.output + str(result.exception)
