"""The gate before the arm, whatever happens: no call is tried that no person has allowed."""

from __future__ import annotations

from collections.abc import Callable

from gates import CALLS, NO, SCENE, YES, ended, nothing, of_plan
from hypothesis import given, settings
from hypothesis import strategies as st

from bbllm.arm.safety.approval_gate import ApprovalGate
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest, RequestKind
from bbllm.core.types import Status

moments = st.one_of(
    st.tuples(
        st.just('call'),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 2),
        st.sampled_from(list(Status)),
    ),
    st.sampled_from([('stop',), ('stop outside',), ('end',), ('begin',), ('idle',)]),
)
sayings = st.sampled_from(['yes', 'no', 'yes, but it was stopped', 'yes, but it was taken back'])


@given(st.lists(moments, max_size=30), st.lists(sayings, max_size=40))
@settings(deadline=None)
def test_no_call_is_ever_tried_that_no_person_has_allowed(
    story: list[tuple[object, ...]], says: list[str]
) -> None:
    granted: set[str] = set()
    used: set[tuple[str, int]] = set()
    named_by_hash: set[str] = set()
    stops, clock = [0], [0.0]
    allowed_now = over = False
    where = of_plan(0)

    def person(request: ApprovalRequest, look: Callable[[], None]) -> Answer:
        nonlocal allowed_now
        assert request.hash not in named_by_hash
        named_by_hash.add(request.hash)
        said = says.pop(0) if says else 'no'
        if said == 'yes, but it was stopped':
            stops[0] += 1
        elif said == 'yes, but it was taken back':
            here.revoke('lost')
        if 'but' in said:
            granted.clear()
        if request.kind is RequestKind.PLAN and said == 'yes':
            granted.add(where.hash)
        if request.kind is RequestKind.CALL:
            allowed_now = said == 'yes'
        return NO if said == 'no' else YES

    here = ApprovalGate(
        person,
        lambda: SCENE,
        mode=ApprovalMode.PLAN,
        stops=lambda: stops[0],
        clock=lambda: clock[0],
    )
    for moment in story:
        if len(moment) == 1:
            match moment[0]:
                case 'stop':
                    here.revoke('stopped')
                case 'stop outside':
                    stops[0] += 1
                case 'end':
                    here.end_episode('e')
                    over = True
                case 'begin':
                    here.ended.begin('e')
                    over = False
                    continue  # told twice, it is the same episode, and what was allowed stays so
                case 'idle':
                    clock[0] += 1000.0
            granted.clear()
            continue
        _, step, named, revision, status = moment
        allowed_now = False
        where = of_plan(int(str(named)), revision=int(str(revision)))
        call = CALLS[int(str(step))]
        if here.permit(call, where, nothing) is None:
            key = (where.hash, where.step)
            assert not over
            by_its_plan = where.hash in granted and step == named and key not in used
            assert allowed_now or by_its_plan
            if status is not Status.REJECTED:
                used.add(key)
            here.settle(ended(call, Status(status)))
