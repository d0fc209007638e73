"""Circles: which repetitions are named, refused and ended, and which are left alone."""

from dataclasses import replace

import pytest

from bbllm.core.circles import PATIENCE, CircleGuard, same_scene
from bbllm.core.events import Ending, Episode, Limits, PlanMade
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import (
    Code,
    Fact,
    Outcome,
    Plan,
    Pose,
    Scene,
    SkillCall,
    Status,
)
from tests.core.scripted_episodes import PICK, STEP, OneCubeWorld, Script, play, start

PLAN = PlanMade.of(Plan((STEP,)), 0)
PLACE = SkillCall('place', ('location_A',))
WAIT = SkillCall('wait', ('1',))
SCENE = OneCubeWorld().observe()
REFUSED = Outcome(
    call=PICK, status=Status.REJECTED, code=Code.COVERED, message='red_cube is covered.'
)
MISSED = Outcome(
    call=PICK, status=Status.FAILED, code=Code.GRASP_FAILED, message='The fingers closed on air.'
)


def look(world: World, context: EpisodeContext) -> None:
    world.observe()


def moved(x_m: float) -> Scene:
    (cube,) = SCENE.objects
    return replace(SCENE, objects=(replace(cube, pose=Pose(position_m=(x_m, 0.0, 0.02))),))


class Sliding(OneCubeWorld):
    """A cube that is two centimetres further on after each call."""

    def __init__(self, *outcomes: Outcome):
        super().__init__(*outcomes)
        self.x_m = 0.4

    def observe(self) -> Scene:
        return moved(self.x_m)

    def execute(self, call: SkillCall) -> Outcome:
        self.x_m += 0.02
        return super().execute(call)


def decide(
    *acts: SkillCall | Script, times: int, world: World | None = None, limits: Limits | None = None
) -> Episode:
    """Play some acts for each of so many plans."""
    return play(*(PLAN, *acts) * times, run=start(limits), world=world)


def outcomes(episode: Episode) -> list[Outcome]:
    return [event.data for event in episode.events if isinstance(event.data, Outcome)]


def test_a_second_refusal_in_one_scene_names_the_first_and_a_third_call_ends_the_episode() -> None:
    episode = decide(look, PICK, times=5, world=OneCubeWorld(*[REFUSED] * 5))

    first, second = outcomes(episode)
    assert first.message == 'red_cube is covered.'
    assert second.message == (
        'red_cube is covered. The same call was refused 2 times in this same scene '
        '(calls 1 and 2): another call would do.'
    )
    assert episode.ending is Ending.WENT_IN_CIRCLES
    assert episode.message == (
        'The plan went in circles: pick(red_cube) was refused 2 times in this same scene '
        '(calls 1 and 2). Calls: 1 pick(red_cube) rejected > 2 pick(red_cube) rejected > '
        'back to 1.'
    )
    assert episode.steps == 2


def test_a_call_that_fails_may_be_tried_as_often_as_with_three_loops() -> None:
    won = decide(look, PICK, times=4, world=OneCubeWorld(*[MISSED] * 3))
    lost = decide(look, PICK, times=9, world=OneCubeWorld(*[MISSED] * 9))

    assert won.ending is Ending.FINISHED
    assert 'failed 3 times in this same scene (calls 1, 2 and 3)' in outcomes(won)[2].message
    assert (lost.ending, lost.steps) == (Ending.WENT_IN_CIRCLES, 4)
    assert outcomes(lost)[3].message == MISSED.message, 'it is named once'


def test_a_failure_in_a_scene_that_changes_is_no_circle() -> None:
    episode = decide(look, PICK, times=9, world=Sliding(*[MISSED] * 9))

    assert episode.steps == 9
    assert {outcome.message for outcome in outcomes(episode)} == {MISSED.message}


@pytest.mark.parametrize('ended', [None, REFUSED, MISSED], ids=['works', 'refused', 'missed'])
def test_one_plan_may_repeat_a_call_as_often_as_it_likes(ended: Outcome | None) -> None:
    world = OneCubeWorld(*([] if ended is None else [ended] * 19))
    episode = decide(*[look, PICK] * 20, times=1, world=world)

    assert (episode.ending, episode.steps) == (Ending.FINISHED, 20)
    assert {outcome.message for outcome in outcomes(episode)} <= {
        '',
        MISSED.message,
        REFUSED.message,
    }


def test_a_brain_that_comes_back_to_one_scene_is_refused_and_then_stopped() -> None:
    turn = (PLAN, look, PICK, look, PLACE)
    episode = play(*turn * 4, *(PLAN, look, PICK) * 5)

    refused = outcomes(episode)[8]
    assert (refused.status, refused.code) == (Status.REJECTED, Code.PRECONDITION)
    assert refused.message == (
        'pick(red_cube) was not made once more: it was made 4 times in this same scene '
        '(calls 1, 3, 5 and 7), and the scene came back each time. Another call, or another '
        'order, would do.'
    )
    assert (episode.ending, episode.steps) == (Ending.WENT_IN_CIRCLES, 9)
    assert episode.message.endswith('7 pick(red_cube) > 8 place(location_A) > back to 1.')


def test_new_attempts_from_one_scene_are_no_circle() -> None:
    targets = [SkillCall('place', (f'location_{letter}',)) for letter in 'ABCDEFGH']
    episode = play(*(act for call in targets for act in (PLAN, look, PICK, look, call)))

    assert (episode.ending, episode.steps) == (Ending.FINISHED, 16)


@pytest.mark.parametrize('what', ['waits', 'is allowed', 'is asked to', 'is blind at first'])
def test_repetition_that_is_meant_goes_on(what: str) -> None:
    call = WAIT if what == 'waits' else PICK
    run = start(Limits(allow_circles=what == 'is allowed'))

    def say(world: World, context: EpisodeContext) -> None:
        if what == 'is asked to':
            run.add_feedback('Once more.')

    turn = (PLAN, call) if what == 'is blind at first' else (PLAN, look, call)
    times = 4 if what == 'is blind at first' else 9
    episode = play(*((*turn, say) * times), run=run)

    assert episode.steps == times
    assert all(outcome.succeeded for outcome in outcomes(episode))


def test_a_planner_that_never_observes_is_found_from_its_second_call_on() -> None:
    episode = decide(PICK, times=9, world=OneCubeWorld(*[MISSED] * 9))

    assert (episode.ending, episode.steps) == (Ending.WENT_IN_CIRCLES, 5)


def test_scenes_are_the_same_up_to_noise() -> None:
    assert same_scene(moved(0.5), moved(0.505))
    assert not same_scene(moved(0.5), moved(0.52))
    unseen = replace(SCENE, facts=(Fact('cup', 'unseen_for', '3 s'),))
    assert same_scene(SCENE, unseen)
    assert not same_scene(SCENE, replace(SCENE, facts=(Fact('red_cube', 'held_by', 'hand'),)))


def test_a_long_circle_is_drawn_with_its_ends() -> None:
    guard = CircleGuard()
    others = [SkillCall('reach', (f'0.5 0.{n} 0.1',)) for n in range(30)]
    for call in (PICK, *others):
        guard.after(replace(REFUSED, call=call), SCENE, 1)
    guard.after(REFUSED, SCENE, 2)

    with pytest.raises(Exception, match=r'20 more') as raised:
        guard.before(PICK, SCENE, 3)
    assert str(raised.value).endswith('32 pick(red_cube) rejected > back to 1.')


def test_every_end_comes_after_its_warning() -> None:
    for status, patience in PATIENCE.items():
        assert 1 < patience.warn <= patience.end, status
