"""What a person beside the table can choose, and what the board shows."""

from dataclasses import replace

from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted, Event, StepBegun
from bbllm.core.types import Code, Fact, Kind, Outcome, Pose, Scene, SceneObject, SkillCall, Status
from bbllm_ros.rviz.menu import (
    ROBOT,
    ChoiceKind,
    Menu,
    MenuChoice,
    MenuItem,
    Numbers,
    robot_menu,
    scene_menus,
)
from bbllm_ros.rviz.status import Mood, StatusBoard


def entity(name: str, kind: Kind = Kind.CUBE) -> SceneObject:
    return SceneObject(name=name, kind=kind, pose=Pose(position_m=(0.4, 0.1, 0.02)))


ENTITIES = (
    entity('red_cube'),
    entity('blue_cube'),
    entity('azure_cube'),
    entity('location_A', Kind.LOCATION),
    entity('location_B', Kind.LOCATION),
    entity('location_H', Kind.LOCATION),
    entity('table', Kind.FIXTURE),
)
SEEN = (
    Fact('red_cube', 'is', 'clear'),
    Fact('blue_cube', 'is', 'clear'),
    Fact('azure_cube', 'is', 'clear'),
    Fact('azure_cube', 'reachable', 'no'),
    Fact('location_H', 'reachable', 'no'),
    Fact('blue_cube', 'on', 'location_A'),
    Fact('location_A', 'occupied_by', 'blue_cube'),
)
EMPTY_HAND = Fact('hand', 'is', 'empty')


def menus_of(*facts: Fact) -> dict[str, Menu]:
    return {
        menu.item.name: menu for menu in scene_menus(Scene(ENTITIES, (), (*SEEN, *facts), 1.0))
    }


def answer(entries: tuple[MenuItem, ...]) -> list[str]:
    """List what every entry asks for, or its title where it asks for nothing, depth first."""
    found = []
    for entry in entries:
        if entry.entries:
            found += [f'{entry.title} > {line}' for line in answer(entry.entries)]
        else:
            found.append(entry.choice.instruction if entry.choice else f'({entry.title})')
    return found


def test_object_can_be_picked_and_put_wherever_it_is_free_and_within_reach() -> None:
    assert answer(menus_of(EMPTY_HAND)['red_cube'].entries) == [
        'pick up red_cube',
        'put on > put red_cube on location_B',
        'put on > put red_cube on blue_cube',
    ]


def test_place_takes_what_is_held_or_any_object_when_the_hand_is_empty() -> None:
    held = menus_of(Fact('red_cube', 'held_by', 'hand'))

    assert answer(menus_of(EMPTY_HAND)['location_B'].entries) == [
        'put here > put red_cube on location_B',
        'put here > put blue_cube on location_B',
    ]
    assert answer(held['location_B'].entries) == ['put red_cube on location_B']
    assert answer(held['blue_cube'].entries) == ['put red_cube on blue_cube']
    assert answer(held['red_cube'].entries) == [
        'put on > put red_cube on location_B',
        'put on > put red_cube on blue_cube',
    ]


def test_menu_states_why_nothing_can_be_done() -> None:
    menus = menus_of(EMPTY_HAND)

    assert answer(menus['azure_cube'].entries) == ['(out of reach)']
    assert answer(menus['location_H'].entries) == ['(out of reach)']
    assert answer(menus['location_A'].entries) == ['(occupied)']
    covered = Scene(ENTITIES, (), SEEN[1:], 1.0)  # nobody says that the red cube is clear
    (menu,) = [menu for menu in scene_menus(covered) if menu.item.name == 'red_cube']
    assert answer(menu.entries) == ['(something stands on it)']


def test_what_is_too_wide_is_no_object_to_pick_but_a_place_for_others() -> None:
    crate = replace(entity('red_cube'), size_m=(0.12, 0.1, 0.06))
    scene = Scene((crate, *ENTITIES[1:]), (), (*SEEN, EMPTY_HAND), 1.0)

    menus = {menu.item.name: answer(menu.entries) for menu in scene_menus(scene)}

    assert menus['red_cube'] == ['(red_cube is 10.0 cm wide, but the hand grips at most 7.6 cm.)']
    assert menus['location_B'] == ['put here > put blue_cube on location_B']
    assert 'put on > put blue_cube on red_cube' in menus['blue_cube']


def test_answers_name_what_was_shown() -> None:
    request = ApprovalRequest(kind=RequestKind.PLAN, title='plan 0 of 3 steps')

    approve, deny, *_ = robot_menu({}, request).entries

    assert (approve.title, approve.choice) == (
        'approve: plan 0 of 3 steps',
        MenuChoice(kind=ChoiceKind.GRANT, hash=request.hash),
    )
    assert (deny.title, deny.choice) == (
        'deny: plan 0 of 3 steps',
        MenuChoice(kind=ChoiceKind.DENY, hash=request.hash),
    )


def test_number_stands_for_the_same_choice_for_ever() -> None:
    numbers = Numbers()
    first, second = (
        MenuItem(title='approve', choice=MenuChoice(kind=ChoiceKind.GRANT, hash=named))
        for named in ('one', 'two')
    )

    number = numbers.of(first, (ROBOT.name,))
    other = numbers.of(second, (ROBOT.name,))

    assert number != other
    assert numbers.of(first, (ROBOT.name,)) == number
    assert numbers.choice(number) == first.choice
    assert numbers.choice(other) == second.choice
    assert numbers.choice(0) is None


def test_number_of_a_menu_from_before_a_restart_stands_for_nothing() -> None:
    stop = MenuItem(title='stop', choice=MenuChoice(kind=ChoiceKind.STOP))
    deny = MenuItem(title='deny', choice=MenuChoice(kind=ChoiceKind.DENY, hash='one'))
    before, after = Numbers(), Numbers()

    shown = [before.of(entry, (ROBOT.name,)) for entry in (stop, deny)]
    now = [after.of(entry, (ROBOT.name,)) for entry in (deny, stop)]

    # By chance they meet in one of 300 million restarts.
    assert not set(shown) & set(now)
    assert [after.choice(number) for number in shown] == [None, None]
    assert all(0 < number < 2**32 for number in shown + now)


def test_lines_that_only_open_a_menu_are_distinguished_by_their_place() -> None:
    numbers = Numbers()
    group = MenuItem(title='put on', entries=(MenuItem(title='x'),))

    one, two = numbers.of(group, ('red_cube',)), numbers.of(group, ('blue_cube',))

    assert one != two
    assert numbers.choice(one) is None


def outcome(status: str, code: str, message: str) -> Event:
    call = SkillCall('pick', ('red_cube',))
    return Event(1.0, Outcome(call=call, status=Status[status], code=Code[code], message=message))


STARTED = Event(
    0.0,
    EpisodeStarted(episode_id='e', task='put the red cube away', planner='p', brain='b', body='b'),
)
REFLEX = outcome('FAILED', 'REFLEX', 'A reflex stopped the arm.')


def test_task_and_step_are_shown_while_they_last_and_then_how_it_ended() -> None:
    board = StatusBoard().with_event(STARTED)
    board = board.with_event(Event(0.5, StepBegun(index=2, text='pick the cube')))
    assert board.lines() == ('task: put the red cube away', 'step: 2: pick the cube')

    ended = Event(2.0, EpisodeEnded(ending=Ending.GAVE_UP, message='Nothing helped.'))
    assert board.with_event(ended).lines() == ('ended: gave up: Nothing helped.',)


def test_fault_stays_until_a_call_succeeds() -> None:
    board = StatusBoard().with_event(STARTED).with_event(REFLEX)
    assert board.mood is Mood.FAULT
    assert 'stopped: A reflex stopped the arm.' in board.lines()

    missed = board.with_event(outcome('FAILED', 'GRASP_FAILED', 'The fingers closed on nothing.'))
    assert missed.fault == 'A reflex stopped the arm.'
    assert missed.with_event(outcome('SUCCEEDED', 'NONE', '')).mood is Mood.CALM
    assert (
        StatusBoard().with_event(outcome('FAILED', 'OCCUPIED', 'It is taken.')).mood is Mood.CALM
    )


def test_request_is_shown_first_and_goes_when_it_is_answered() -> None:
    request = ApprovalRequest(
        kind=RequestKind.PLAN,
        title='plan 1',
        steps=('pick',) * 20,
        reason='it is new',
    )

    board = StatusBoard().with_request(request)

    assert board.mood is Mood.WAITS
    assert board.lines()[:2] == ('WAITS FOR A PERSON: plan 1 (it is new)', '    0: pick')
    assert '    ... and 8 more' in board.lines()
    assert board.with_request(None) == StatusBoard()
