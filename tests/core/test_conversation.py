"""Turns of a conversation: how many are given, how long they are, and what was moved."""

from dataclasses import replace

from bbllm.core.conversation import KEPT_TURNS, TURN_CHARACTERS, Conversation, Turn, moves
from bbllm.core.dialogue import summary_of
from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted, Event, PlanMade, describe
from bbllm.core.journal import episode_of
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, Task


def episode(number: int) -> Turn:
    start = EpisodeStarted(
        episode_id=f'e{number}', task='go ' * 500, planner='p', brain='b', body='b'
    )
    end = EpisodeEnded(Ending.FINISHED, '', summary='Done. ' * 500)
    return Turn.of(episode_of([Event(0.0, start), Event(1.0, end)]))


def test_an_endless_conversation_is_kept_and_given_in_part() -> None:
    talk = Conversation(turns=3)
    for number in range(KEPT_TURNS + 5):
        start = EpisodeStarted(
            episode_id=f'e{number}', task='go ' * 500, planner='p', brain='b', body='b'
        )
        talk.add(episode_of([Event(0.0, start)]))
    assert len(talk.turns) == KEPT_TURNS
    assert talk.turns[-1].episode_id == f'e{KEPT_TURNS + 4}'
    history = talk.given_to(Task('t', 'go')).history
    assert len(history) == 3
    assert max(map(len, history)) <= TURN_CHARACTERS


def test_a_long_report_is_cut_before_what_was_moved() -> None:
    turn = replace(episode(0), moved=('a from 0 0 0 to 1 1 1',))
    assert 'moved: a from 0 0 0 to 1 1 1 | came to: Done.' in turn.line


def test_what_was_moved_has_both_places_with_yaw() -> None:
    def table(x: float, place: str) -> Scene:
        pose = Pose(position_m=(x, 0.0, 0.02), quat_xyzw=(0.0, 0.0, 0.130526, 0.991445))
        cube = SceneObject(name='cube', kind=Kind.CUBE, pose=pose, size_m=(0.04,) * 3)
        return Scene((cube,), (), (Fact('cube', 'on', place),), 0.0)

    (moved,) = moves(table(0.4, 'table'), table(0.5, 'spot'))
    assert str(moved) == (
        'cube from 0.400 0.000 0.020 on table, yaw 15 to 0.500 0.000 0.020 on spot, yaw 15'
    )
    assert not list(moves(table(0.4, 'table'), table(0.405, 'table')))


def test_in_a_house_places_are_those_of_facts() -> None:
    def house(place: str) -> Scene:
        milk = SceneObject(name='milk_1', kind=Kind.OTHER, pose=Pose(position_m=(0, 0, 0)))
        return Scene((milk,), (), (Fact('milk_1', 'inside', place),), 0.0, domain='household')

    assert [*map(str, moves(house('fridge'), house('sink')))] == [
        'milk_1 from inside fridge to inside sink'
    ]


def test_a_goal_that_was_met_before_the_end_of_the_plan_contradicts_no_ending() -> None:
    def words(ending: Ending) -> tuple[str, str]:
        end = EpisodeEnded(ending, 'Why.', goal='met')
        return describe(end)[0][1], summary_of([], end)

    assert words(Ending.FINISHED) == ('FINISHED (goal: met): Why.', 'Done. Why.')
    assert words(Ending.CANCELLED) == (
        'CANCELLED (the goal was met by then): Why.',
        'Not finished. Why. The goal was met by then.',
    )


def test_what_the_first_plan_assumed_is_reported_after_a_repair() -> None:
    made = [PlanMade(('a',), 0, assumed='the red one'), PlanMade(('a', 'b'), 1)]
    events = [Event(0.0, each) for each in made]
    end = EpisodeEnded(Ending.FINISHED, '')
    assert summary_of(events, end) == 'Done. Assumed: the red one.'
    newer = Event(0.0, PlanMade(('a', 'c'), 1, assumed='the blue one'))
    assert summary_of([*events, newer], end) == 'Done. Assumed: the blue one.'
