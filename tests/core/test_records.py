"""Records survive JSON, and data that does not fit is refused by field."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.records import from_json, to_json
from bbllm.core.types import (
    Code,
    Fact,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
POSE = st.builds(
    Pose,
    position_m=st.tuples(NUMBER, NUMBER, NUMBER),
    quat_xyzw=st.tuples(NUMBER, NUMBER, NUMBER, NUMBER),
)
OBJECT = st.builds(
    SceneObject,
    name=st.text(),
    kind=st.sampled_from(Kind),
    pose=POSE,
    size_m=st.tuples(NUMBER, NUMBER, NUMBER),
    color=st.text(),
)
SCENE = st.builds(
    Scene,
    st.lists(OBJECT, max_size=3).map(tuple),
    st.lists(st.builds(Skill, st.text(), st.tuples(st.text())), max_size=2).map(tuple),
    st.lists(
        st.builds(Fact, st.text(), st.text(), st.text(), estimated=st.booleans()), max_size=3
    ).map(tuple),
    NUMBER,
)
OUTCOME = st.builds(
    Outcome,
    call=st.builds(SkillCall, st.text(), st.lists(st.text(), max_size=2).map(tuple)),
    status=st.sampled_from(Status),
    code=st.sampled_from(Code),
    message=st.text(),
    raw=st.text(),
    duration_s=NUMBER,
)


@given(SCENE | OUTCOME)
def test_a_record_survives_json(record: Scene | Outcome) -> None:
    assert from_json(type(record), json.loads(json.dumps(to_json(record)))) == record


def test_integer_enums_stand_in_words_in_the_json() -> None:
    assert to_json(Status.REJECTED) == 'REJECTED'
    assert to_json(Code.OUT_OF_WORKSPACE) == 'OUT_OF_WORKSPACE'


@pytest.mark.parametrize(
    ('data', 'field'),
    [
        ({'call': {'skill': 'pick'}, 'status': 'MAYBE'}, 'Outcome.status'),
        ({'call': {'skill': 7}, 'status': 'FAILED'}, 'Outcome.call.skill'),
        ({'call': 'pick', 'status': 'FAILED'}, 'Outcome.call'),
        ({'call': {'skill': 'pick', 'args': 'red'}, 'status': 'FAILED'}, 'Outcome.call.args'),
        ({'status': 'FAILED'}, 'Outcome'),
    ],
)
def test_data_that_does_not_fit_is_refused_by_field(data: dict[str, object], field: str) -> None:
    with pytest.raises(ValueError, match=field):
        from_json(Outcome, data)


def test_a_value_without_json_form_is_refused() -> None:
    @dataclass
    class Odd:
        value: object

    with pytest.raises(TypeError, match='complex'):
        to_json(Odd(1j))
