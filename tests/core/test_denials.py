"""What a person has denied: what is the same again is not asked for, and anything else is."""

import pytest

from bbllm.core.approval import DENIED, RequestKind
from bbllm.core.events import Ending, Episode, EventData, Limits, PlanMade, StepBegun
from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.types import Code, Outcome, PlanStep, SkillCall, Status
from tests.core.scripted_episodes import PICK, OneCubeWorld, Script, play, start

WAIT = SkillCall('wait', ('1',))
PLACE = SkillCall('place', ('location_A',))


class AskingWorld(OneCubeWorld):
    """A person denies the first calls."""

    def __init__(self, kind: RequestKind, reason: str = 'it is glued.', times: int = 1):
        super().__init__()
        self._raw, self._denies = f'{DENIED[kind]}{reason}', [PICK] * times
        self.asked: list[SkillCall] = []

    def execute(self, call: SkillCall) -> Outcome:
        self.asked.append(call)
        if call not in self._denies:
            return super().execute(call)
        self._denies.remove(call)
        return Outcome(
            call=call, status=Status.REJECTED, code=Code.NOT_APPROVED, message='No.', raw=self._raw
        )


def plan(*texts: str, begun: int = 0, start: int = 0) -> tuple[EventData, EventData]:
    return PlanMade(texts, start), StepBegun.of(PlanStep(begun, texts[begun]))


PICK_PLACE = plan('pick red_cube', 'place it')


def outcomes(episode: Episode) -> list[Outcome]:
    return [event.data for event in episode.events if isinstance(event.data, Outcome)]


@pytest.mark.parametrize('kind', [RequestKind.PLAN, RequestKind.CALL])
def test_what_was_denied_is_refused_once_with_the_words_and_then_ends_the_episode(
    kind: RequestKind,
) -> None:
    world = AskingWorld(kind)
    episode = play(*(*PICK_PLACE, PICK) * 5, world=world)

    what = 'the plan "pick red_cube; place it"' if kind is RequestKind.PLAN else 'pick(red_cube)'
    assert world.asked == [PICK]
    refused = outcomes(episode)[1]
    assert (refused.status, refused.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert refused.message == (
        f'pick(red_cube) was not tried: a person denied {what}: it is glued. It is not asked for '
        f'twice; another {kind.value} would be.'
    )
    assert (episode.ending, episode.steps) == (Ending.WENT_IN_CIRCLES, 2)
    assert f'a person denied {what}: it is glued. It was proposed again 2 times' in episode.message


def test_no_step_of_a_plan_that_was_refused_is_asked_for() -> None:
    world = AskingWorld(RequestKind.PLAN, times=9)
    second = StepBegun.of(PlanStep(1, 'place it'))
    run = start(Limits(allow_circles=True))
    episode = play(*(*PICK_PLACE, PICK, second, PLACE) * 3, run=run, world=world)

    assert world.asked == [PICK]
    assert [outcome.code for outcome in outcomes(episode)] == [Code.NOT_APPROVED] * 6


CHANGED: dict[str, tuple[EventData | Script, ...]] = {
    'other words': (*plan('pick the blue cube', 'place it'), PICK),
    'another end': (*plan('pick red_cube', 'place it', 'return to base'), PICK),
    'waited first': (*plan('wait', *'ab'), WAIT, *plan('pick red_cube', 'place it'), PICK),
}


@pytest.mark.parametrize('what', CHANGED)
def test_a_plan_that_has_changed_is_asked_for(what: str) -> None:
    world = AskingWorld(RequestKind.PLAN)
    play(*PICK_PLACE, PICK, *CHANGED[what], world=world)

    assert world.asked.count(PICK) == 2


def test_the_rest_of_a_plan_that_was_denied_in_its_middle_is_the_same_plan() -> None:
    world = AskingWorld(RequestKind.PLAN)
    whole = 'wait', 'pick red_cube', 'place it'
    repaired = plan(*whole, begun=1, start=1)
    play(*plan(*whole), WAIT, *plan(*whole, begun=1), PICK, *repaired, PICK, world=world)

    assert world.asked == [WAIT, PICK]


def test_after_a_word_of_the_person_everything_is_asked_for() -> None:
    world, run = AskingWorld(RequestKind.PLAN), start()

    def speak(world: World, context: EpisodeContext) -> None:
        run.add_feedback('Now you may.')

    episode = play(*PICK_PLACE, PICK, speak, *PICK_PLACE, PICK, run=run, world=world)

    assert world.asked == [PICK, PICK]
    assert outcomes(episode)[-1].succeeded
