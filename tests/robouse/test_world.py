"""A table of Robo Use as a world: without Robo Use, by a server that answers as it does."""

import json
import math
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bbllm_robouse.episode import Episode, EpisodeOverError, ServerGoneError
from bbllm_robouse.goal_model import steps_for
from bbllm_robouse.instruction import GIVE_UP, instruction_of
from bbllm_robouse.motions import SKILLS, Leg, Refusal, grip_of, pick, place, spot_of
from bbllm_robouse.play import play
from bbllm_robouse.table import (
    NoObjectsError,
    NoSkillError,
    from_scene_frame,
    read_table,
    scene_of,
    to_scene_frame,
)
from bbllm_robouse.world import RoboUseWorld

from bbllm.core.errors import ConfigError, TaskError
from bbllm.core.naming import scene_fault
from bbllm.core.types import Code, SkillCall, Status

PROMPT = '# Blocks\n\n**Goal:** Put the red block on the *pad*.\n\n## What `robo observe` shows\n'
WAIT_S = 30.0
FIGURE = {  # as 0.6.1 shows one that lies on the floor, its head towards the back
    'kind': 'figure',
    'description': 'a person-like figure (mannequin) lying on its back',
    'head_pos': [0.5, 0.142, -0.168],
    'neck_pos': [0.5, 0.1, -0.17],
    'chest_pos': [0.5, 0.04, -0.132],
    'feet_pos': [0.5, -0.2, -0.18],
}


def block(x: float, y: float, z: float = 0.02, color: str = 'red') -> dict[str, Any]:
    return {
        'kind': 'box',
        'color': color,
        'pos': [x, y, z],
        'size': [0.04, 0.04, 0.04],
        'yaw_deg': 0.0,
        'half_height': 0.02,
    }


def state(**objects: dict[str, Any]) -> dict[str, Any]:
    return {
        'hand_pos': [0.0, 0.2, 0.25],
        'gripper_open': 1.0,
        'holding': [],
        'objects': objects,
        'fixtures': {
            'pad': {'kind': 'pad', 'color': 'grey', 'pos': [0.1, 0.0, 0.001], 'size': [0.08, 0.08]}
        },
    }


class PointGripper:
    """An episode server whose gripper is a point, and whose objects go with it when it closes."""

    def __init__(self, path: Path, seen: dict[str, Any], *, max_steps: int = 10_000):
        self.state, self.steps, self.ended = seen, 0, ''
        self._max_steps = max_steps
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen(8)
        self.gone = False
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.gone = True
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, connection.makefile('rw') as file:
                request = json.loads(file.readline())
                file.write(json.dumps(self._answer(request)) + '\n')

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.ended:
            return {'ok': False, 'error': f'episode finished ({self.ended})'}
        match request['op']:
            case 'info':
                return {'ok': True, 'result': {}}
            case 'observe':
                return {'ok': True, 'result': {'state': self.state}}
            case 'act':
                return {'ok': True, 'result': self._act(request['action'], request['repeat'])}
            case 'done' | 'give_up':
                self.ended = request['op']
                return {'ok': True, 'result': {}}
        return {'ok': False, 'error': f'unknown op {request["op"]!r}'}

    def _act(self, action: list[float], repeat: int) -> dict[str, Any]:
        hand, self.steps = self.state['hand_pos'], self.steps + repeat
        for name, seen in self.state['objects'].items():
            if action[3] == 1.0 and math.dist(seen['pos'], hand) < 0.01:
                self.state['holding'] = [name]
        if action[3] < 1.0:
            self.state['holding'] = []
        for axis in range(3):
            hand[axis] += 0.01 * action[axis] * repeat
            for name in self.state['holding']:
                self.state['objects'][name]['pos'][axis] += 0.01 * action[axis] * repeat
        result = {'executed_steps': repeat, 'state': self.state}
        if self.steps >= self._max_steps:
            self.ended = 'budget_exhausted'
            return {**result, 'episode': 'finished: step budget exhausted'}
        return result


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PointGripper]:
    served = PointGripper(tmp_path / 'socket', state(red_block=block(-0.1, 0.05)))
    yield served
    served.close()


def test_the_frames_are_inverse_and_left_of_one_is_left_of_the_other() -> None:
    point = (-0.2, 0.1, 0.3)

    assert from_scene_frame(to_scene_frame(point)) == pytest.approx(point)
    assert to_scene_frame((-1.0, 0.0, 0.0))[1] > 0.0  # left of Robo Use is -x, ours +y


def test_a_scene_has_objects_places_and_what_rests_on_what() -> None:
    table = read_table(state(red_block=block(0.1, 0.0), blue_block=block(0.1, 0.0, 0.06, 'blue')))

    scene = scene_of(table, SKILLS, held=None, stamp_s=0.0)

    assert scene.has('blue_block', 'on', 'red_block')
    assert scene.has('red_block', 'on', 'pad')
    assert scene.has('hand', 'is', 'empty')


def test_a_scene_says_what_no_row_of_it_shows() -> None:
    seen = state(block=block(0.0, 0.0) | {'label': 'heavy'})
    seen['fixtures']['figure'] = FIGURE
    seen['grid'] = {'cell_size': 0.08, 'cell_centers': [[[0.02, 0.0], [0.1, 0.0]]]}

    scene = scene_of(read_table(seen), SKILLS, held=None, stamp_s=0.0)

    assert scene.has('pad', 'marks', 'cell_0_1')
    assert not scene.has('pad', 'marks', 'cell_0_0')
    assert scene.has('block', 'labelled', 'heavy')
    assert scene.has('figure', 'is', 'a person-like figure, mannequin, lying on its back')
    assert scene_fault(scene) == ''
    assert scene.has('hand', 'reaches', 'x -0.27 to 0.28, y -0.34 to 0.34 and z 0.012 to 0.35')
    assert scene.has('base', 'is')


def test_a_figure_is_as_long_as_it_lies() -> None:
    seen = state(block=block(0.0, 0.0))
    seen['fixtures']['figure'] = FIGURE

    figure = scene_of(read_table(seen), SKILLS, held=None, stamp_s=0.0).object('figure')

    long, across, tall = figure.size_m
    x, y, z = figure.pose.position_m
    assert long > 2 * across
    assert (x, y) == pytest.approx((-0.029, -0.5))
    assert z - tall / 2 == pytest.approx(-0.2)


def test_a_task_of_pictures_and_an_unknown_object_are_refused_by_type() -> None:
    with pytest.raises(NoObjectsError, match='pictures'):
        read_table({'hand_pos': [0, 0, 0.2], 'gripper_open': 1.0})
    with pytest.raises(NoSkillError, match='bottle'):
        read_table(state(bottle={'kind': 'bottle', 'pos': [0, 0, 0]}))


def test_a_covered_and_a_wide_object_are_not_picked() -> None:
    wide = {**block(0.2, 0.2), 'size': [0.04, 0.12, 0.04]}
    table = read_table(
        state(low=block(0.1, 0.0), high=block(0.1, 0.0, 0.06), wide=wide)
    )  # fmt: skip

    covered, broad = pick(table, 'low', None), pick(table, 'wide', None)

    assert isinstance(covered, Refusal)
    assert isinstance(broad, Refusal)
    assert (covered.code, broad.code) == (Code.COVERED, Code.NOT_GRASPABLE)


def test_the_fingers_open_by_the_width_along_y() -> None:
    turned = {**block(0.0, 0.0), 'size': [0.08, 0.02, 0.04], 'yaw_deg': 90.0}
    motion = pick(read_table(state(bar=turned)), 'bar', None)

    assert not isinstance(motion, Refusal)
    above = motion[1]
    assert isinstance(above, Leg)
    assert above.grip == pytest.approx(grip_of(0.08 + 0.02))


def test_a_target_that_takes_nothing_and_an_empty_hand_are_refused() -> None:
    seen = state(red_block=block(0.0, 0.0))
    seen['fixtures']['figure'] = FIGURE
    table = read_table(seen)

    figure = spot_of(table, 'figure', table.things['red_block'])
    empty = place(table, 'pad', None)

    assert isinstance(figure, Refusal)
    assert 'figure' in figure.message
    assert isinstance(empty, Refusal)
    assert empty.code is Code.NOT_HOLDING


def test_a_pick_and_a_place_move_an_object_and_count_steps(
    server: PointGripper, tmp_path: Path
) -> None:
    world = RoboUseWorld(Episode(tmp_path / 'socket'))

    picked = world.execute(SkillCall('pick', ('red_block',)))
    held = world.observe().held
    placed = world.execute(SkillCall('place', ('pad',)))

    assert (picked.status, placed.status) == (Status.SUCCEEDED, Status.SUCCEEDED), placed
    assert held == 'red_block'
    assert server.state['objects']['red_block']['pos'][:2] == pytest.approx([0.1, 0.0], abs=0.01)
    assert world.steps == server.steps


def test_an_unknown_object_is_rejected_without_a_step(
    server: PointGripper, tmp_path: Path
) -> None:
    outcome = RoboUseWorld(Episode(tmp_path / 'socket')).execute(SkillCall('pick', ('mug',)))

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNKNOWN_OBJECT)
    assert server.steps == 0


def test_a_server_that_goes_away_is_an_error_of_its_own(
    server: PointGripper, tmp_path: Path
) -> None:
    world = RoboUseWorld(Episode(tmp_path / 'socket'))
    server.close()
    (tmp_path / 'socket').unlink()

    with pytest.raises(ServerGoneError, match='does not answer'):
        world.execute(SkillCall('pick', ('red_block',)))


def test_a_used_up_budget_ends_the_episode(tmp_path: Path) -> None:
    served = PointGripper(tmp_path / 's', state(red_block=block(0.0, 0.0)), max_steps=5)
    world = RoboUseWorld(Episode(tmp_path / 's'))

    with pytest.raises(EpisodeOverError, match='budget'):
        world.execute(SkillCall('pick', ('red_block',)))
    served.close()


def test_without_a_socket_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('ROBOUSE_SOCKET', raising=False)

    with pytest.raises(ConfigError, match='robouse run --harness bbllm'):
        Episode.of_environment()


def test_a_planner_plays_an_episode_to_its_end(server: PointGripper, tmp_path: Path) -> None:
    goals = [{'type': 'on_pad', 'obj': 'red_block', 'pad': 'pad'}]
    order = {'planner': 'brain_body', 'brain': 'goal', 'prompt': PROMPT, 'goals': goals}

    result = play(order, Episode(tmp_path / 'socket'))

    assert (result['ending'], server.ended) == ('FINISHED', 'done'), result


def test_offline_reads_the_words_of_the_task(server: PointGripper, tmp_path: Path) -> None:
    order = {'planner': 'brain_body', 'brain': 'offline', 'prompt': PROMPT}

    result = play(order, Episode(tmp_path / 'socket'))

    assert (result['ending'], server.ended) == ('FINISHED', 'done'), result


def test_what_cannot_be_played_is_given_up_and_counted(tmp_path: Path) -> None:
    served = PointGripper(tmp_path / 's', {'hand_pos': [0, 0, 0.2], 'gripper_open': 1.0})
    order = {'planner': 'brain_body', 'brain': 'offline', 'prompt': PROMPT}

    result = play(order, Episode(tmp_path / 's'))

    assert (result['refused'], served.ended) == ('NoObjectsError', 'give_up')
    served.close()


def test_the_instruction_is_the_goal_and_the_examples_without_markup() -> None:
    text = instruction_of(PROMPT, {**state(), 'examples': [{'before': [1]}]})

    assert text == (
        'Put the red block on the pad. The observation field examples holds: [{"before":[1]}]'
    )
    with pytest.raises(TaskError, match='Goal'):
        instruction_of('no goal', {})


def test_coordinates_of_a_task_are_given_in_the_frame_of_the_scene() -> None:
    there = instruction_of('**Goal:** Put the block at x = -0.2, y = 0.1.\n', state())

    assert there.endswith('The point (x, y) of this text is (y, -x) in the environment.')
    assert to_scene_frame((-0.2, 0.1, 0.0))[:2] == (0.1, 0.2)


def test_a_language_model_can_give_up_as_any_agent_and_a_stand_in_reads_the_goal_alone(
    monkeypatch: pytest.MonkeyPatch, server: PointGripper, tmp_path: Path
) -> None:
    given: list[str] = []

    def record(text: str, *_: object, **__: object) -> None:
        given.append(text)
        raise ConfigError('no model is needed here')

    monkeypatch.setattr('bbllm_robouse.play.run_episode', record)
    monkeypatch.setenv('OPENAI_API_KEY', 'none')
    order = {'planner': 'brain_body', 'prompt': PROMPT}
    for brain in ('offline', 'gpt-4o'):
        with pytest.raises(ConfigError):
            play({**order, 'brain': brain}, Episode(tmp_path / 'socket'))

    assert given == ['Put the red block on the pad.', f'Put the red block on the pad. {GIVE_UP}']


def test_objects_that_change_places_go_over_the_table() -> None:
    seen = state(red=block(0.0, 0.0), blue=block(0.08, 0.0, color='blue'))
    seen['grid'] = {'cell_size': 0.08, 'cell_centers': [[[0.0, 0.0], [0.08, 0.0]]]}
    scene = scene_of(read_table(seen), SKILLS, held=None, stamp_s=0.0)
    expected = [{'cell': [0, 1], 'color': 'red'}, {'cell': [0, 0], 'color': 'blue'}]

    words = [line.words for line in steps_for([{'type': 'grid', 'expected': expected}], scene)]

    assert len([each for each in words if each.startswith('pick')]) == 3
    assert any(each.endswith('on table') for each in words)
