"""What names a plan, and the queue where a request waits for a person."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.approval import (
    Answer,
    ApprovalQueue,
    ApprovalRequest,
    Provenance,
    RequestKind,
    plan_hash,
)
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ApprovalError, CancelledError
from bbllm.core.types import Plan, PlanStep

texts = st.text(max_size=12)
lines = st.lists(texts, max_size=5)


def plan_of(steps: list[str]) -> Plan:
    return Plan(tuple(PlanStep(i, text) for i, text in enumerate(steps)))


@given(st.tuples(texts, st.integers(0), lines), st.tuples(texts, st.integers(0), lines))
def test_two_plans_bear_one_hash_only_where_they_are_the_same(one: Any, other: Any) -> None:
    same = plan_hash(one[0], one[1], plan_of(one[2])) == plan_hash(
        other[0], other[1], plan_of(other[2])
    )

    assert same == (one == other)


@given(lines, texts, st.integers(0, 1000), st.integers(0, 4))
def test_the_step_under_way_does_not_change_which_plan_it_is_but_episode_and_revision_do(
    steps: list[str], episode: str, revision: int, step: int
) -> None:
    plan = plan_of(steps)
    here = plan_hash(episode, revision, plan)

    for at in (0, step):
        assert here == Provenance(episode_id=episode, revision=revision, plan=plan, step=at).hash
    assert here != plan_hash(episode, revision + 1, plan)
    assert here != plan_hash(episode + 'x', revision, plan)
    # Neither can be read out of the other.
    assert plan_hash('1', 11, plan) != plan_hash('11', 1, plan)


requests = st.builds(
    ApprovalRequest,
    kind=st.sampled_from(RequestKind),
    title=texts,
    about=lines.map(tuple),
    steps=lines.map(tuple),
    revision=st.integers(0, 3),
    never=lines.map(tuple),
    rest=texts,
    goal=lines.map(tuple),
    rehearsal=lines.map(tuple),
    reason=texts,
    episode_id=texts,
    nonce=texts,
)


@given(requests, st.data())
def test_whoever_shows_something_else_has_another_hash(
    request: ApprovalRequest, data: st.DataObject
) -> None:
    other = data.draw(requests)
    names = [field.name for field in fields(request) if not field.name.endswith('_s')]
    name = data.draw(st.sampled_from(names))
    changed = replace(request, **{name: getattr(other, name)})

    assert (changed.hash == request.hash) == (changed == request)
    assert replace(request, since_s=5.0, timeout_s=7.0).hash == request.hash


def test_what_only_the_planner_vouches_for_is_marked_in_each_line() -> None:
    request = ApprovalRequest(
        kind=RequestKind.PLAN,
        title='The plan.',
        steps=('pick a', 'enforced: never touch b'),
        never=('never touch c',),
        rest='d is far',
        goal=('a is on b',),
        rehearsal=('never touch e (checked)',),
    )

    assert request.lines == (
        '0: pick a',
        '1: enforced: never touch b',
        'enforced: never touch c',
        'the planner states: left undone: d is far',
        'the planner states: checked at the end: a is on b',
        'the planner states: rehearsed: never touch e (checked)',
    )


PATIENCE_S = 30.0
THREADS = ThreadPoolExecutor(10)
REQUEST = ApprovalRequest(kind=RequestKind.PLAN, title='The plan.', steps=('pick',))
OTHER = replace(REQUEST, steps=('place',))
HASH = REQUEST.hash


class Desk(ApprovalQueue):
    """A desk that can be waited for."""

    def __init__(self, timeout_s: float = PATIENCE_S, simulated: bool = False):
        self.open = threading.Event()
        self.shown: list[ApprovalRequest | None] = []
        self.reported: list[str] = []
        super().__init__(
            timeout_s=timeout_s,
            simulated=simulated,
            on_change=self._show,
            on_answer=lambda request, answer: self.reported.append(answer.line_about(request)),
        )

    def asked(
        self, request: ApprovalRequest = REQUEST, cancel: CancelToken | None = None
    ) -> Future[Answer]:
        asked = THREADS.submit(self.ask, request, cancel or CancelToken())
        assert self.open.wait(PATIENCE_S), 'nothing was asked'
        return asked

    def _show(self, waiting: ApprovalRequest | None) -> None:
        self.shown.append(waiting)
        if waiting is not None:
            self.open.set()


def test_a_granted_request_goes_on_and_everybody_sees_that_nothing_waits_any_more() -> None:
    desk = Desk()
    asked = desk.asked()

    desk.answer(HASH, Answer(granted=True, by='ann'))

    assert asked.result(PATIENCE_S) == Answer(granted=True, by='ann')
    assert desk.waiting is None
    shown = desk.shown
    assert shown[0] is not None
    assert shown[0].timeout_s == PATIENCE_S
    assert shown[1:] == [None]
    assert desk.reported == [f'{REQUEST.name} approved by ann']


@pytest.mark.parametrize('hash', ['', HASH[:12], OTHER.hash, HASH.upper(), f'{HASH}a'])
def test_an_answer_to_another_hash_is_refused_with_the_one_that_waits(hash: str) -> None:
    desk = Desk()
    asked = desk.asked()

    with pytest.raises(ApprovalError, match=f'not what waits now: that is {REQUEST.name}'):
        desk.answer(hash, Answer(granted=True, by='ann'))

    assert desk.waiting is not None
    desk.answer(HASH, Answer(granted=False, by='ann'))
    assert asked.result(PATIENCE_S).granted is False


def test_a_late_answer_is_refused_with_the_answer_given_though_the_next_request_waits() -> None:
    desk = Desk()
    asked = desk.asked()
    desk.answer(HASH, Answer(granted=False, reason='too near', by='ann'))
    asked.result(PATIENCE_S)
    desk.open.clear()
    asked = desk.asked(OTHER)

    with pytest.raises(ApprovalError) as refused:
        desk.answer(HASH, Answer(granted=True, by='bob'))

    printed = str(refused.value)
    assert f'not what waits now: that is {OTHER.name}' in printed
    assert f'It was answered: {REQUEST.name} denied by ann: too near.' in printed
    assert desk.waiting is not None
    desk.answer(OTHER.hash, Answer(granted=False, by='ann'))
    assert asked.result(PATIENCE_S).granted is False


def test_of_many_answers_at_once_one_counts_and_the_others_are_refused() -> None:
    desk = Desk()
    asked = desk.asked()
    begin = threading.Barrier(8)

    def say(number: int) -> str:
        begin.wait(PATIENCE_S)
        try:
            desk.answer(HASH, Answer(granted=number % 2 == 0, by=f'p{number}'))
        except ApprovalError as error:
            return str(error)
        return ''

    refused = [reported for reported in THREADS.map(say, range(8), timeout=PATIENCE_S) if reported]

    answer = asked.result(PATIENCE_S)
    assert len(refused) == 7
    assert all(answer.by in sentence for sentence in refused)


def test_a_program_approves_for_a_simulated_robot_only_and_may_always_deny() -> None:
    real, simulated = Desk(), Desk(simulated=True)
    automatic = Answer(granted=True, by='run --yes', automatic=True)
    asked, taken = real.asked(), simulated.asked()

    with pytest.raises(ApprovalError, match=r'simulated.* bbllm approve'):
        real.answer(HASH, automatic)
    simulated.answer(HASH, automatic)

    assert taken.result(PATIENCE_S) == automatic
    assert simulated.reported == [f'{REQUEST.name} approved by run --yes (automatic)']
    assert real.waiting is not None
    real.answer(HASH, Answer(granted=False, by='a watchdog', automatic=True))
    assert not asked.result(PATIENCE_S).granted


def test_what_ends_the_wait_leaves_nothing_to_answer() -> None:
    desk = Desk()
    token = CancelToken()
    asked = desk.asked(cancel=token)
    token.cancel('It was cancelled.')

    with pytest.raises(CancelledError):
        asked.result(PATIENCE_S)
    assert desk.waiting is None
    assert desk.shown[-1] is None
    with pytest.raises(ApprovalError, match='No request waits'):
        desk.answer(HASH, Answer(granted=True, by='ann'))


def test_nobody_in_time_is_no_approval() -> None:
    desk = Desk(timeout_s=0.01)
    asked = desk.asked()

    answer = asked.result(PATIENCE_S)

    assert (answer.granted, answer.by) == (False, '')
    assert answer.reason == 'nobody answered within 0.01 s'
    with pytest.raises(ApprovalError, match=r'nobody answered within 0\.01 s'):
        desk.answer(HASH, Answer(granted=True, by='late'))
