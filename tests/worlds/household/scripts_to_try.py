"""Scripts for hypothesis to draw, about the things of the two rooms."""

from typing import Any

from hypothesis import strategies as st

from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from tests.worlds.household.small_houses import two_rooms

IDS = st.sampled_from([*sorted(two_rooms().nodes), 999])
CARRY = (Action.PUTBACK, Action.PUTIN, Action.POUR, Action.PUTOBJBACK, Action.PUTON, Action.DROP)


def line(action: Action, *ids: int) -> ScriptLine:
    return ScriptLine(action, tuple(('x', node_id) for node_id in ids[: action.arity]))


@st.composite
def pieces(draw: Any) -> list[ScriptLine]:
    """A few lines that often succeed: going there first, taking first what is put somewhere."""
    entity, place = draw(IDS), draw(IDS)
    go, take, open_it = (
        line(Action.WALK, entity),
        line(Action.GRAB, entity),
        line(Action.OPEN, place),
    )
    carry = line(draw(st.sampled_from(CARRY)), entity, place)
    there = line(Action.WALK, place)
    return draw(
        st.sampled_from(Action).map(lambda action: [go, line(action, entity, place)])
        | st.just([there, open_it, go, take, there, carry])
        | st.just([go, take, there, carry])
        | st.sampled_from(Action).map(lambda action: [line(action, entity, place)])
    )


SCRIPTS = st.lists(pieces(), max_size=12).map(
    lambda found: [ln for piece in found for ln in piece]
)
