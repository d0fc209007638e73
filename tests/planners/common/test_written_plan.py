"""A plan that begins before its reply has ended, and replies that go on in another way."""

import threading
from collections.abc import Iterable, Sequence
from functools import partial

import pytest

from bbllm.core.errors import BrokenPlanError, GaveUpError, ParseError
from bbllm.core.events import EventData, PlanGrown, PlanMade
from bbllm.core.protocols import Message, ModelRequest, OnText, Reply
from bbllm.core.types import PlanStep
from bbllm.planners.common.plan_grammar import first_steps, parse_partial_plan
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.written_plan import WrittenPlan
from tests.planners.symbolic_table import Diary

PATIENCE_S = 20.0


class Events(Diary):
    """Keeps the events themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[EventData] = []

    def emit(self, data: EventData) -> None:
        self.events.append(data)


class WaitingBrain:
    """Writes a reply up to a mark `|`, and goes on from there when it is told to."""

    name = 'waiting'
    supports_schema = False
    streams = True

    def __init__(self, *replies: str):
        self.replies = list(replies)
        self.asked: list[Sequence[Message]] = []
        self.go_on = threading.Event()

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        assert on_text is not None, 'a stream is read'
        self.asked.append(request.messages)
        reply = self.replies.pop(0)
        begun, mark, rest = reply.partition('|')
        on_text(begun)
        while mark and not self.go_on.wait(0.005):
            assert request.cancel is not None
            request.cancel.raise_if_cancelled()
        return Reply(text=begun + rest, model=self.name)


def begun(
    *replies: str, context: Events | None = None, kept: Iterable[str] = (), headed: bool = False
) -> tuple[WrittenPlan, WaitingBrain]:
    brain = WaitingBrain(*replies)
    before = [PlanStep(i, text) for i, text in enumerate(kept)]
    start = len(before)
    plan = WrittenPlan(
        lambda model, read: ask(model, 'plan', read),
        partial(parse_partial_plan, start=start),
        partial(first_steps, start=start, headed=headed),
        context or Events(),
        before,
    )
    plan.begin(brain, brain)
    return plan, brain


def texts(plan: WrittenPlan) -> list[str]:
    return [step.text for step in plan.plan.steps]


def test_a_plan_begins_with_its_first_line_and_grows() -> None:
    context = Events()
    plan, brain = begun('0: pick a\n1: pla|ce b\n2: Done\ncannot: c is gone', context=context)

    assert plan.has(0) and texts(plan) == ['pick a']
    assert not plan.is_whole
    brain.go_on.set()
    assert plan.has(1) and not plan.has(2)
    assert texts(plan) == ['pick a', 'place b'] and plan.rest == 'c is gone'
    made = [event for event in context.events if isinstance(event, PlanMade)]
    assert [(type(each), each.start, len(each.steps), each.rest) for each in made] == [
        (PlanMade, 0, 1, ''),
        (PlanGrown, 1, 2, 'c is gone'),
    ]


@pytest.mark.parametrize(
    ('rest', 'why'),
    [
        ('5: place b', 'it goes on with number 5, but number 1 was to come'),
        ('1: place b\n\nOr better:\n0: pick c', 'number 0, but number 2 was to come'),
        ('1: place b\nNew plan:\n0: pick c', 'replaces them by other steps'),
        ('1: wait\n' + ''.join(f'{i}: pick a\n' for i in range(2, 30)), 'repeats'),
        ('1: ', 'Step 1 is empty'),
        ('wait, I shall think</think>\n0: pick b', 'replaces them by other steps'),
    ],
)
def test_a_reply_that_turns_out_otherwise_stops_before_the_next_step(rest: str, why: str) -> None:
    plan, brain = begun(f'0: pick a\n|{rest}', 'asked once more')

    assert plan.has(0)
    brain.go_on.set()
    assert [step.text for step in plan.whole().steps] == ['pick a']
    with pytest.raises(BrokenPlanError, match=why):
        plan.has(1)
    assert why in plan.fault
    assert len(brain.asked) == 1  # a second reply would begin anew


def test_a_plan_that_gives_up_after_its_first_steps_gives_up() -> None:
    plan, brain = begun('0: pick a\n|New plan:\ncannot: b is gone')

    brain.go_on.set()
    with pytest.raises(GaveUpError, match='b is gone'):
        plan.has(1)


def test_a_reply_that_cannot_be_read_from_the_start_is_asked_for_again() -> None:
    plan, brain = begun('First I pick a.\n0: pick a\n2: put it', '0: pick b\n')

    assert plan.has(0) and texts(plan) == ['pick b']
    assert 'That reply cannot be used' in brain.asked[1][-1].content
    with pytest.raises(ParseError, match='Neither of two replies'):
        begun('eh?', 'eh?')


def test_a_request_that_is_sent_again_replaces_what_was_not_begun() -> None:
    class Torn(WaitingBrain):
        def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
            assert on_text is not None
            on_text('0: pick a\n1: pick b\n2: pick c\n')
            assert self.go_on.wait(PATIENCE_S)
            on_text('0: pick a\n')
            return Reply(text='0: pick a\n1: pick d', model=self.name)

    brain = Torn()
    plan = WrittenPlan(
        lambda model, read: ask(model, 'plan', read), parse_partial_plan, first_steps, Events()
    )
    plan.begin(brain, brain)
    assert plan.has(0)
    brain.go_on.set()

    assert [step.text for step in plan.whole().steps] == ['pick a', 'pick d']
    assert plan.has(1) and not plan.fault
