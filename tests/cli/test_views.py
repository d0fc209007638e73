"""How an episode looks: a line for each event, a live view, and the plan in any terminal."""

import io
from collections.abc import Iterable
from unittest.mock import Mock

import pytest
from rich.console import Console

from bbllm.cli.views.plain_view import LineView, describe
from bbllm.cli.views.rich_view import LiveView, plan_lines, print_progress
from bbllm.core.events import (
    ApprovalAnswered,
    Ending,
    EpisodeEnded,
    Event,
    EventKind,
    GoalStated,
    ModelCall,
    PlanGrown,
    PlanMade,
    RepairBegun,
    StepFailed,
    StepPassed,
    WarningRaised,
    event_text,
)
from bbllm.core.progress import StepRow, StepState
from tests.cli.event_examples import (
    EXAMPLES,
    FAR,
    PLAN,
    REPAIRED,
    STARTED,
    after,
    event,
    outcome,
    states,
    step,
)


def test_lines_that_join_the_plan_leave_the_step_under_way_as_it_is() -> None:
    grown = event(PlanGrown(('pick a', 'put it on b', 'pick c', 'put it on a'), 3))

    progress = after(step(1), grown)

    assert states(progress) == [
        (0, StepState.PENDING),
        (1, StepState.RUNNING),
        (2, StepState.PENDING),
        (3, StepState.PENDING),
    ]
    assert describe(grown.data) == [('plan', '  3: put it on a')]


@pytest.mark.parametrize('kind', list(EventKind))
def test_every_kind_of_event_is_on_one_line_or_known_to_have_none(kind: EventKind) -> None:
    file = io.StringIO()

    LineView(file)(event(EXAMPLES[kind]))

    silent = {EventKind.MODEL_TEXT, EventKind.SENSED}
    lines = file.getvalue().splitlines()
    assert bool(lines) is (kind not in silent)
    assert all(line[8] == 's' and line[11] != ' ' for line in lines)
    assert '\n' not in event_text(EXAMPLES[kind])


def test_lines_that_nobody_reads_do_not_stop_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    gone_pipe = io.StringIO()
    monkeypatch.setattr(gone_pipe, 'flush', Mock(side_effect=BrokenPipeError))
    view = LineView(gone_pipe)

    for item in (STARTED, PLAN, step(0)):
        view(item)

    assert states(view.progress)[0] == (0, StepState.RUNNING)


def screen(events: Iterable[Event], height: int = 40) -> str:
    """Return what a terminal shows in the end."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, height=height, color_system=None)
    view = LiveView(console)
    for item in events:
        view(item)
    console.print(view)
    return file.getvalue()


def test_live_view_shows_states_causes_counts_and_how_it_ended() -> None:
    ended = event(EpisodeEnded(ending=Ending.FINISHED, message=''))
    texts = ('✓   0 step 0', '↻   1 step 1', f'↳ {FAR} (planned anew)', '·   1 pick d')

    text = screen((STARTED, PLAN, *REPAIRED))

    assert [part for part in (*texts, '2 calls · 1 repair') if part not in text] == []
    assert 'FINISHED' in screen((STARTED, PLAN, *REPAIRED, ended)).splitlines()[-2]


def test_live_view_of_a_long_plan_fits_the_terminal_and_shows_the_current_step() -> None:
    long = event(PlanMade(steps=tuple(f'do thing {n}' for n in range(60)), start=0))
    done = [item for n in range(30) for item in (step(n, f'do thing {n}'), outcome('wait'))]

    text = screen((STARTED, long, *done, step(30, 'do thing 30')), height=20)

    assert 'do thing 30' in text
    assert 'more above' in text
    assert 'more below' in text
    assert len(text.splitlines()) <= 20


@pytest.mark.parametrize('width', [20, 40, 80, 200])
@pytest.mark.parametrize('text', ['pick up the cube ' * 10, '把红色方块放在蓝色方块上' * 5])
def test_plan_lines_never_exceed_the_terminal_and_leave_nothing_out(text: str, width: int) -> None:
    row = StepRow(3, text, StepState.REPLACED, '', FAR, 12.3)

    lines = plan_lines([row], width, '▶')

    assert max(line.cell_len for line in lines) <= max(width, 36)
    written = ''.join(line.plain for line in lines).replace('12.3 s', '')
    assert text.replace(' ', '') in written.replace(' ', '')


def test_who_approved_what_is_shown_with_the_episode_and_live() -> None:
    yes = event(ApprovalAnswered(granted=True, text='plan 1a2b3c4d5e6f approved by ann'))
    no = event(ApprovalAnswered(granted=False, text='call 0a0b0c0d0e0f denied by bob: glued'))
    file = io.StringIO()

    print_progress(Console(file=file, width=100), after(yes, step(0), no))

    live = screen([STARTED, PLAN, yes, step(0), no])
    for text in ('plan 1a2b3c4d5e6f approved by ann', 'call 0a0b0c0d0e0f denied by bob: glued'):
        assert text in file.getvalue()
        assert text in live


def test_the_time_of_a_line_goes_on_while_nothing_happens_in_the_world() -> None:
    file = io.StringIO()
    view = LineView(file)

    for one in (STARTED, outcome('pick a'), event(WarningRaised(text='waiting'))):
        view(one)
    view(Event(110.0, WarningRaised(text='still waiting')))

    times = [line.split()[0] for line in file.getvalue().splitlines()]
    assert times == ['0.0', '0.0', '2.0', '2.0', '10.0']


def test_a_sentence_of_a_refused_model_is_printed_where_it_occurs_first_and_at_the_end() -> None:
    file = io.StringIO()
    view = LineView(file)
    why = 'm at host answered 401 (unauthorized). Check $OPENAI_API_KEY.'
    call = ModelCall(role='brain', model='m', error=f'ModelRefusedError: {why}')

    for data in (call, GoalStated(why=f'the model gave no goal. {why}'), call):
        view(event(data))
    view(event(EpisodeEnded(ending=Ending.MODEL_FAILED, message=why)))

    lines = file.getvalue().splitlines()
    assert [why in line for line in lines] == [True, False, False, True, False]
    assert lines[1].endswith('the model gave no goal. as above.')


def test_a_repaired_step_stays_in_sight_and_steps_never_tried_go() -> None:
    progress = after(*REPAIRED)
    person = event(RepairBegun(index=0, text='x', cause='A person said: not that', loop=1))
    printed = after(person, event(PlanMade(steps=('rest',), start=0)))

    done, replaced, pending = StepState.DONE, StepState.REPLACED, StepState.PENDING
    assert states(progress) == [(0, done), (1, replaced), (1, pending), (2, pending)]
    assert progress.rows[1].note == FAR
    assert progress.episode.feedback_loops == 1
    assert states(printed) == [(0, replaced), (0, pending)]


def test_a_step_that_was_passed_on_is_not_done_and_one_that_stays_failed_has_its_reason() -> None:
    passed = after(step(0), event(StepPassed(index=0, text='x')), step(1))
    failed = event(StepFailed(index=0, text='x', cause=FAR))
    row = after(step(0), outcome('pick c', 'FAILED', FAR), failed, step(1)).rows[0]

    assert passed.rows[0].state is StepState.PASSED
    assert (row.state, row.note) == (StepState.FAILED, FAR)
