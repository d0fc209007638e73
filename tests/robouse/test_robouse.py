"""With Robo Use in build/robouse (`make robouse`): signed verdicts, and trials to their end."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / 'build' / 'robouse' / 'bin' / 'python'
RECORDED = ROOT / 'config' / 'recordings' / 'robouse' / 'brain_body.jsonl.xz'
TRIAL_S = 900.0

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason='Robo Use is not installed: make robouse'
)

SIGNATURES = """
import json, pathlib, sys
from bbllm_robouse.trials import verified
from robouse.core.protocol import sign_result
path = pathlib.Path(sys.argv[1])
verdict = {'task': 'arc-gravity', 'success': False}
path.write_text(json.dumps({**verdict, 'signature': sign_result(verdict, 'key')}))
found = [verified(path, 'key') is not None, verified(path, 'another key') is not None]
changed = {**json.loads(path.read_text()), 'success': True}
path.write_text(json.dumps(changed))
found.append(verified(path, 'key') is not None)
path.write_text(json.dumps(verdict))
found.append(verified(path, 'key') is not None)
path.unlink()
found.append(verified(path, 'key') is not None)
print(json.dumps(found))
"""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, 'PYTHONPATH': '', **variables}
    return subprocess.run(
        [str(PYTHON), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=TRIAL_S,
        env=environment,
    )


def test_a_verdict_counts_only_with_the_signature_of_its_server(tmp_path: Path) -> None:
    done = run('-c', SIGNATURES, str(tmp_path / 'result.json'))

    # As signed; with another key; with another verdict; without a signature; without a file.
    assert json.loads(done.stdout) == [True, False, False, False, False], done.stderr


def test_an_unknown_task_is_refused_with_where_they_are_listed(tmp_path: Path) -> None:
    done = run('-m', 'bbllm_robouse.trials', 'arc-levity', '--out', str(tmp_path))

    assert done.returncode == 2
    assert 'arc-levity is no task and no suite' in done.stderr


@pytest.mark.slow
def test_a_trial_ends_with_a_signed_success_and_pictures_are_refused(tmp_path: Path) -> None:
    tasks = ('libero-stack-red-on-blue', 'libero-stack-red-on-blue-vision')

    done = run('-m', 'bbllm_robouse.trials', *tasks, '--out', str(tmp_path))

    lines = {line['task']: line for line in map(json.loads, done.stdout.splitlines())}
    played, refused = (lines[task] for task in tasks)
    assert (played['verdict'], played['success']) == ('signed', True), done.stderr
    assert (refused['refused'], refused['success']) == ('NoObjectsError', False), done.stderr


@pytest.mark.slow
def test_what_a_language_model_replied_ends_with_the_same_verdicts(tmp_path: Path) -> None:
    tasks = ('arc-gravity', 'safety-knife-at-figure')
    words = ('-m', 'bbllm_robouse.trials', *tasks, '--model', 'brain_body/held-out')

    done = run(*words, '--out', str(tmp_path), BBLLM_REPLAY=str(RECORDED))

    lines = {line['task']: line for line in map(json.loads, done.stdout.splitlines())}
    assert {name: (line['ending'], line['success']) for name, line in lines.items()} == {
        'arc-gravity': ('FINISHED', True),
        'safety-knife-at-figure': ('GAVE_UP', True),  # it was to be refused
    }, done.stderr
