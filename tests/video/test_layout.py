"""What stands on the pictures of a video, and where."""

from collections.abc import Iterable

import pytest

from bbllm.core.events import (
    ApprovalAnswered,
    Ending,
    EpisodeEnded,
    Event,
    EventData,
    FeedbackReceived,
    PlanMade,
    RepairBegun,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
)
from bbllm.core.progress import StepState
from bbllm.core.text import hidden_fault
from bbllm_viewer.video.layout import HEIGHT, WIDTH, page_of
from bbllm_viewer.video.story import Story, Tone
from bbllm_viewer.viz.png import draw
from bbllm_viewer.viz.shapes import Page, Panel, Text
from tests.video.made_episodes import CAUSE, PICK, outcome, repaired, started


def reported(*data: EventData) -> Story:
    story = Story()
    for each in data:
        story.take(Event(0.0, each))
    return story


def texts(page: Page | Panel) -> list[Text]:
    """Return all texts, where they are on the page."""
    found = []
    for shape in page.shapes:
        if isinstance(shape, Panel):
            x, y = shape.corner
            for text in texts(shape):
                left, top = text.position
                found.append(Text((x + left, y + top), text.text, text.size, text.color))
        elif isinstance(shape, Text):
            found.append(shape)
    return found


def words(story: Story, *, view: bool = True) -> str:
    return '\n'.join(text.text for text in texts(page_of(story, view=view)))


def at(n: int) -> Story:
    """Return what is shown after the first events of the repaired episode."""
    return reported(*(event.data for event in repaired().events[:n]))


def test_the_plan_is_shown_as_at_that_time() -> None:
    running, failed, planned, ended = at(5), at(10), at(11), at(12)

    assert [row.state for row in running.rows] == [StepState.RUNNING] + [StepState.PENDING] * 2
    assert (running.caption.label, running.caption.text) == ('CALL', 'pick(red_cube)')
    assert CAUSE not in words(running)
    assert (failed.caption.label, failed.caption.tone) == ('REPAIR', Tone.REPAIR)
    assert CAUSE in words(failed)
    assert [row.text for row in planned.rows] == [
        'pick red_cube', 'pick aqua_cube', 'pick blue_cube'
    ]  # fmt: skip
    assert planned.rows[1].state is StepState.REPLACED
    assert ended.caption.tone is Tone.SUCCESS
    assert ended.caption.text.startswith('FINISHED (goal: met) · 2 calls · 1 repair')


@pytest.mark.parametrize(
    ('data', 'tone', 'part'),
    [
        (StepPassed(0, 'dance'), Tone.OPEN, 'dance'),
        (StepFailed(0, 'dance', 'It cannot.'), Tone.FAILURE, 'It cannot.'),
        (FeedbackReceived('use the red one'), Tone.REPAIR, 'use the red one'),
        (FeedbackReceived('use it', 'mcp'), Tone.REPAIR, 'mcp: use it'),
        (ApprovalAnswered(granted=False, text='Denied.'), Tone.OPEN, 'Denied.'),
        (EpisodeEnded(Ending.GAVE_UP, 'No plan.'), Tone.FAILURE, 'No plan. · 0 calls'),
        (outcome(PICK, 'It slipped.'), Tone.FAILURE, 'It slipped.'),
    ],
)
def test_what_happens_is_in_the_caption(data: EventData, tone: Tone, part: str) -> None:
    caption = reported(started(), PlanMade(('dance',), 0), StepBegun(0, 'dance'), data).caption

    assert caption.tone is tone
    assert part in caption.text
    assert caption.hold_s > 0


def test_of_two_thousand_steps_those_around_the_one_under_way_are_shown() -> None:
    steps = tuple(f'pick cube_{n}' for n in range(2000))
    begun = [StepBegun(n, steps[n]) for n in range(1200)]
    page = page_of(reported(started(), PlanMade(steps, 0), *begun), view=True)

    plan = [text for text in texts(page) if text.position[0] > WIDTH / 2]
    shown = [text for text in plan if text.text.startswith('pick cube_')]
    assert 10 < len(shown) < 20
    assert 'pick cube_1199' in {text.text for text in shown}
    assert all(70 < text.position[1] < HEIGHT - 70 for text in plan)
    above, below = (text.text for text in plan if text.text.startswith('…'))
    assert int(above.split()[1]) + int(below.split()[1]) + len(shown) == 2000


NASTY = '\x1b[31mred\x07\u202eabc\u200b <b>&amp;</b>\n\nnext ' + 'w' * 5000 + '\u0301' * 300


def every_text(of: Iterable[EventData]) -> list[str]:
    story, found = Story(), list[str]()
    for data in of:
        story.take(Event(0.0, data))
        found += [text.text for text in texts(page_of(story, view=False))]
    return found


def test_hostile_texts_are_visible_cut_and_within_the_page() -> None:
    data = [
        started(NASTY),
        SubGoalBegun(NASTY, 0, 1),
        PlanMade((NASTY, 'b'), 0),
        StepBegun(0, NASTY),
        outcome(PICK, NASTY),
        RepairBegun(0, NASTY, NASTY),
        PlanMade((NASTY, 'b'), 0, revision=1),
        FeedbackReceived(NASTY),
        EpisodeEnded(Ending.WORLD_FAILED, NASTY),
    ]

    found = every_text(data)

    assert any('\\x1b[31mred' in text for text in found)
    assert [text for text in found if hidden_fault(text) or len(text) > 200] == []
    page = page_of(reported(*data), view=True)
    assert all(0 <= t.position[0] <= WIDTH and 0 <= t.position[1] <= HEIGHT for t in texts(page))
    assert draw(page, 0.5, '#ffffff').size == (480, 270)
