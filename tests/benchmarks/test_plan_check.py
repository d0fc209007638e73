"""`bbllm bench plan-check`: the check of plans beside outcomes that are known."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core.events import EpisodeStarted, Event, SceneRecorded
from bbllm.core.journal import line_of
from bbllm.core.types import Code, Kind, Outcome, Pose, Scene, SceneObject, SkillCall, Status
from bbllm.skills.catalog import SKILLS

CUBE = SceneObject(
    name='red_cube',
    kind=Kind.CUBE,
    pose=Pose(position_m=(0.5, 0.0, 0.02)),
    size_m=(0.04, 0.04, 0.04),
)
PLACE = SceneObject(name='location_A', kind=Kind.LOCATION, pose=Pose(position_m=(0.4, 0.2, 0.0)))
PICK, PICK_PLACE = SkillCall('pick', ('red_cube',)), SkillCall('pick', ('location_A',))
REFUSED = 'location_A is a location, and that cannot be picked.'


def done(call: SkillCall) -> Outcome:
    return Outcome(call=call, status=Status.SUCCEEDED)


def refused(message: str) -> Outcome:
    return Outcome(
        call=PICK_PLACE, status=Status.REJECTED, code=Code.NOT_GRASPABLE, message=message
    )


@pytest.mark.parametrize(
    ('outcomes', 'figures', 'exit_code'),
    [
        ((refused(REFUSED), done(PICK)), (1, 0, 1, 1, 0), 0),
        ((refused('no'), done(PICK)), (1, 0, 1, 0, 1), 0),
        ((done(PICK), done(PICK_PLACE)), (2, 1, 0, 0, 0), 1),
        ((Outcome(call=PICK, status=Status.FAILED), done(PICK_PLACE)), (0, 0, 0, 0, 0), 0),
    ],
)
def test_calls_are_counted_by_outcome_and_fault(
    bbllm: Callable[..., Result],
    tmp_path: Path,
    outcomes: tuple[Outcome, ...],
    figures: tuple[int, ...],
    exit_code: int,
) -> None:
    start = EpisodeStarted(episode_id='a', task='', planner='brain_body', brain='', body='')
    scene = SceneRecorded('before', Scene((CUBE, PLACE), SKILLS, (), 0.0))
    lines = [line_of(Event(0.0, data)) for data in (start, scene, *outcomes)]
    (tmp_path / 'episodes').mkdir()
    (tmp_path / 'episodes' / 'a.jsonl').write_text(''.join(lines))

    result = bbllm('bench', 'plan-check', str(tmp_path), '--json')

    assert result.exit_code == exit_code, result.output
    counted = json.loads(result.stdout)
    assert tuple(counted.values())[:5] == figures
    assert counted['plans_timed'] == 0


def test_executability_is_given_with_the_check_and_without_it(
    bbllm: Callable[..., Result], tmp_path: Path
) -> None:
    start = EpisodeStarted(episode_id='a', task='', planner='brain_body', brain='', body='')
    scene = SceneRecorded('before', Scene((CUBE, PLACE), SKILLS, (), 0.0))
    for name, outcomes in (('a', (refused(REFUSED), done(PICK))), ('b', (done(PICK),))):
        folder = tmp_path / name / 'episodes'
        folder.mkdir(parents=True)
        lines = [line_of(Event(0.0, data)) for data in (start, scene, *outcomes)]
        (folder / 'a.jsonl').write_text(''.join(lines))

    result = bbllm('bench', 'plan-check', str(tmp_path), '--json')

    (row,) = json.loads(result.stdout)['by_planner']
    assert (row['planner'], row['calls'], row['found by the check']) == ('brain_body', '3', '1')
    assert row['EXEC'].startswith('0.67 [')
    assert row['EXEC of the others'].startswith('1.00 [')


def test_a_folder_without_journals_is_refused(
    bbllm: Callable[..., Result], tmp_path: Path
) -> None:
    result = bbllm('bench', 'plan-check', str(tmp_path))

    assert result.exit_code == 2
    assert 'has no journals' in ' '.join(result.output.split())
