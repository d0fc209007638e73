"""`bbllm demo --recorded`: a recorded task is played again, without a model."""

import json
from collections.abc import Callable
from pathlib import Path

import jinja2
import numpy as np
import pytest
from typer.testing import CliRunner, Result

from bbllm.bags.motion import motion_path, read_motion
from bbllm.cli.main import app
from bbllm_bench.commands import recorded_demo

INDEX = """runs:
  - {name: toast, suite: household, planner: prog_prompt, ks: [0], trials: 1, seed: 3,
     tasks: [make_toast], stand_in: expert}
  - {name: table, suite: tabletop, planner: brain_body, ks: [3], trials: 1, seed: 3,
     tasks: [plus_sign], stand_in: offline}
  - {name: later, suite: tabletop, planner: brain_body, trials: 1, seed: 3, stand_in: offline}
"""


@pytest.fixture(scope='module')
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the runs `toast` and `table` are recorded."""
    place = tmp_path_factory.mktemp('recordings')
    (place / 'index.yaml').write_text(INDEX)
    for name, model in (('toast', 'expert'), ('table', 'offline')):
        config = place / f'{model}.yaml'
        config.write_text(f'brain: {{provider: {model}}}\nbody: {{provider: {model}}}\n')
        words = ['bench', 'recorded', '--recordings', str(place), '--only', name, '--record']
        words += ['--jobs', '1', '--llm-config', str(config), '--out', str(place / 'out')]
        made = CliRunner().invoke(app, words)
        assert made.exit_code == 0, made.output
    return place


@pytest.fixture
def recorded(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_demo, 'shipped', lambda: recordings)


def test_a_recorded_task_is_played_again_and_marked_as_recorded(
    recorded: None, bbllm: Callable[..., Result]
) -> None:
    listed = bbllm('demo', '--recorded', 'list')
    played = bbllm('demo', '--recorded', 'toast/make_toast', '--json')
    data = json.loads(played.stdout)
    wrong = bbllm('demo', '--recorded', 'toast/make_toasts')

    first, second, last = filter(None, listed.stdout.splitlines())
    assert first.split() == ['toast/make_toast', 'make', 'toast']
    assert second.split()[:4] == ['table/plus_sign', 'Create', 'a', 'plus']
    assert last == 'To play one: bbllm demo --recorded toast/make_toast'
    assert 'A recording: expert gave these replies on 20' in played.stderr
    assert 'changed since' not in played.stderr
    assert (played.exit_code, data['ending'], data['check']['passed']) == (0, 'FINISHED', True)
    assert wrong.exit_code == 2 and "Did you mean 'toast/make_toast'" in wrong.stderr


def test_changed_prompts_are_stated_in_one_line_beside_what_the_replies_come_to(
    recorded: None, bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    render = jinja2.Template.render
    monkeypatch.setattr(
        jinja2.Template, 'render', lambda *values, **more: f'Note. {render(*values, **more)}'
    )

    played = bbllm('demo', '--recorded', 'toast/make_toast', '--json')
    check = json.loads(played.stdout)['check']

    assert '1 of 1 prompt changed since: this is what' in ' '.join(played.stderr.split())
    assert check == {
        'passed': True,
        'finding': 'Check of the bench: passed, replayed with changed prompts.',
    }
    assert played.exit_code == 0


def test_a_recorded_task_on_a_table_leaves_its_motion(
    recorded: None, bbllm: Callable[..., Result]
) -> None:
    played = bbllm('demo', '--recorded', 'table/plus_sign', '--json')

    motion = read_motion(motion_path(Path(json.loads(played.stdout)['journal'])))
    assert motion.complete
    moved_m = [np.ptp(poses[:, :2], axis=0).max() for poses in motion.poses.values()]
    assert sum(moved > 0.05 for moved in moved_m) >= 4  # of five cubes, one may lie right


@pytest.mark.parametrize(
    ('more', 'named'),
    [
        (['stack all'], 'leave out TASK.'),
        (['--speed', '2'], 'leave out --speed.'),
        (['--viewer', '--scene', 'plus_sign'], 'leave out --viewer, --scene.'),
        (
            ['--k', '0', '--goal', 'no', '--planner', 'brain_body'],
            '--planner, --feedback-loops, --goal.',
        ),
        (['--ros', '--seed', '1', '--brain', 'offline'], '--brain, --seed, --ros.'),
    ],
)
def test_what_a_recorded_task_cannot_follow_is_refused_by_name(
    more: list[str], named: str, bbllm: Callable[..., Result]
) -> None:
    refused = bbllm('demo', *more, '--recorded', 'list')

    assert refused.exit_code == 2
    assert named in ' '.join(refused.stderr.split())
