"""`bbllm run --house`: one task in a household, with a model that follows a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.cli.support import session
from bbllm.core.events import EventKind
from bbllm.core.journal import read_episode
from bbllm.llm.models.factory import Models
from bbllm.llm.scripted import ScriptedModel
from bbllm.worlds.household.houses import list_houses, load_house

Command = Callable[..., Result]
PROGRAM = """
    # 1: go to the tv
    find('tv')
    # 2: switch it on
    switchon('tv')
"""
WATCH = ('run', 'watch tv', '--planner', 'prog_prompt:check=graph,grounding=nearest')


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a script answer in place of a model."""
    models = Models(ScriptedModel([PROGRAM]), ScriptedModel([]), ())
    monkeypatch.setattr(session, 'make_chosen_models', lambda options: models)


@pytest.mark.usefixtures('scripted')
@pytest.mark.parametrize(
    ('words', 'house'),
    [
        (('--house', 'studio'), 'studio'),
        (('--world', 'household'), 'family_flat'),
        (('--world', 'household', '--house', 'old_house'), 'old_house'),
    ],
)
def test_a_task_is_done_in_a_house_and_on_record(
    bbllm: Command, state: Path, words: tuple[str, ...], house: str
) -> None:
    ran = bbllm(*WATCH, *words, '--json')

    assert ran.exit_code == 0, ran.output
    data = json.loads(ran.stdout)
    assert data['ending'] == 'FINISHED'
    assert [Path(path).suffix for path in data['pictures']] == ['.svg', '.png']
    assert '>off → on<' in Path(data['pictures'][0]).read_text(encoding='utf-8')
    settings = read_episode(Path(data['journal'])).events[0].data.settings
    assert (settings['world'], settings['scene']) == ('household', house)
    assert bbllm('show').exit_code == 0


@pytest.mark.usefixtures('scripted')
def test_rules_and_visibility_are_chosen_and_on_record(bbllm: Command, state: Path) -> None:
    ran = bbllm(*WATCH, '--house', 'studio', '--mode', 'fresh', '--visibility', 'room', '--json')

    events = read_episode(Path(json.loads(ran.stdout)['journal'])).events
    settings = events[0].data.settings
    assert (settings['mode'], settings['visibility']) == ('fresh', 'room')
    things = next(e for e in events if e.kind is EventKind.SCENE).data.scene.objects
    assert len(things) < len(load_house('studio').graph.nodes)


@pytest.mark.usefixtures('scripted')
def test_a_graph_of_virtualhome_is_a_house(bbllm: Command, tmp_path: Path) -> None:
    path = tmp_path / 'theirs.json'
    path.write_text(json.dumps(load_house('studio').graph.to_dict()))

    assert bbllm(*WATCH, '--house', str(path)).exit_code == 0


@pytest.mark.usefixtures('scripted')
@pytest.mark.parametrize(
    ('words', 'told'),
    [
        (('--house', 'studyo'), "Did you mean 'studio'?"),
        (('--house', 'no/such.yaml'), 'no/such.yaml'),
        (('--house', 'studio', '--world', 'tabletop'), 'A house has no table'),
        (('--house', 'studio', '--scene', 'tower'), 'A house has no table'),
        (('--house', 'studio', '--yes'), '--world household asks nobody'),
        (('--house', 'studio', '--mode', 'sain'), "Did you mean 'sane'?"),
        (('--house', 'studio', '--visibility', 'rooms_sen'), "Did you mean 'rooms_seen'?"),
        (('--world', 'tabletop', '--mode', 'fresh'), 'add --house NAME'),
        (('--visibility', 'room'), 'add --house NAME'),
    ],
)
def test_a_house_that_cannot_be_is_refused(
    bbllm: Command, words: tuple[str, ...], told: str
) -> None:
    ran = bbllm(*WATCH, *words)

    assert ran.exit_code == 2
    assert told in ' '.join(ran.stderr.split())


def test_houses_are_listed_with_their_rooms(bbllm: Command) -> None:
    data = json.loads(bbllm('scenes', '--json').stdout)

    assert set(list_houses()) <= set(data)
    assert data['studio']['rooms'] == ['livingroom', 'kitchen', 'bathroom', 'home_office']
    assert data['studio']['things'] > 100
    assert 'studio' in bbllm('scenes').stdout


@pytest.mark.usefixtures('scripted')
def test_a_house_has_no_video(bbllm: Command, tmp_path: Path) -> None:
    video = tmp_path / 'house.gif'

    ran = bbllm(*WATCH, '--house', 'studio', '--video', str(video))

    assert ran.exit_code == 2
    assert 'leave --video out' in ran.output
    assert not video.exists()
