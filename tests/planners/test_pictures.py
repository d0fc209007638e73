"""Pictures in the prompts of planners: which requests have one, and what is said of it."""

from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending, Episode
from bbllm.core.protocols import ScenePicture, WorldFeatures
from bbllm.core.registry import load_planner
from bbllm.core.types import Code, Task
from bbllm.planners.assembly import check_domain
from bbllm.planners.common.model_planner import PictureUse
from bbllm.testing import ScriptedModel
from tests.planners.chosen import built
from tests.planners.symbolic_table import SymbolicTabletop

OBJECTS = {
    'red_cube': (0.40, 0.12),
    'blue_cube': (0.48, 0.20),
    'location_A': (0.54, -0.18),
}
TASK = 'put the red cube on location_A'
REMARKED = 'The attached picture shows this scene from above; x points up.'
PLAN = '0: pick red_cube\n1: place red_cube on location_A\n2: Done'
REPAIR = f'It slipped.\nNew plan:\n{PLAN}'


class PicturedTable(SymbolicTabletop):
    """A table with a camera whose pictures are numbered."""

    n_taken = 0

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(picture=self._picture)

    def _picture(self) -> ScenePicture:
        self.n_taken += 1
        data = b'\x89PNG\r\n\x1a\n' + str(self.n_taken).encode()
        return ScenePicture(data=data, view='from above; x points up')


def play(planner: str, world: Any, model: ScriptedModel) -> Episode:
    run = EpisodeRun(Task('t', TASK), planner=planner, brain='b', body='b')
    return run.execute(built(run, planner, model, ScriptedModel()), world)


def asked(option: str) -> ScriptedModel:
    table = PicturedTable(OBJECTS, faults=[('pick(red_cube)', Code.GRASP_FAILED, 'It slipped.')])
    model = ScriptedModel([PLAN, REPAIR])
    episode = play(f'brain_body{option}', table, model)
    assert episode.ending is Ending.FINISHED, episode.message
    assert len(model.requests) == 2
    return model


@pytest.mark.parametrize(('use', 'wanted'), [('none', 0), ('before', 1), ('each', 2)])
def test_pictures_are_sent_as_chosen_and_mentioned_only_where_there_is_one(
    use: PictureUse, wanted: int
) -> None:
    model = asked(f':image={use}')

    pictured = [bool(request.messages[1].images) for request in model.requests]
    assert pictured == [True] * wanted + [False] * (2 - wanted)
    assert [REMARKED in request.prompt for request in model.requests] == pictured
    plain = asked('')
    texts = [request.prompt.replace(f'{REMARKED}\n', '') for request in model.requests]
    assert texts == [request.prompt for request in plain.requests]


def test_each_picture_is_taken_when_it_is_asked_for() -> None:
    first, second = (request.messages[1].images for request in asked(':image=each').requests)

    assert first != second


def test_a_reply_that_cannot_be_read_is_asked_again_with_the_same_picture() -> None:
    model = ScriptedModel(['I cannot say.', PLAN])

    play('brain_body:image=before', PicturedTable(OBJECTS), model)

    again = model.requests[1].messages
    assert [bool(message.images) for message in again] == [False, True, False, False]


def test_a_world_without_camera_is_refused_before_any_request() -> None:
    model = ScriptedModel()

    episode = play('brain_body:image=before', SymbolicTabletop(OBJECTS), model)

    assert episode.ending is Ending.WORLD_FAILED
    assert 'This world has no camera' in episode.message
    assert '`image=none`' in episode.message
    assert model.requests == []


def test_pictures_of_a_household_are_refused_before_an_episode_begins() -> None:
    name = 'brain_body:image=each'
    check_domain(name, load_planner(name), 'tabletop')
    with pytest.raises(ConfigError, match=r'a household is symbols.*`image=none`'):
        check_domain(name, load_planner(name), 'household')
