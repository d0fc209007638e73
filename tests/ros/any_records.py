"""Strategies that draw any record that the graph carries."""

from hypothesis import strategies as st

from bbllm.core.events import ModelCall, PromptText
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)

texts = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'), max_size=20)
floats = st.floats(-1e3, 1e3)
triples = st.tuples(floats, floats, floats)
stamps = st.floats(0, 2**31 - 1).map(lambda t: round(t, 6))
quats = st.tuples(floats, floats, floats, floats).filter(any)
poses = st.builds(Pose, position_m=triples, quat_xyzw=quats)
objects = st.builds(
    SceneObject, name=texts, kind=st.sampled_from(Kind), pose=poses, size_m=triples, color=texts
)
lists = st.lists(texts, max_size=3).map(tuple)
skills = st.builds(Skill, texts, lists, texts, lists)
facts = st.builds(Fact, texts, texts, texts, estimated=st.booleans())
calls = st.builds(SkillCall, texts, lists)
hands = st.builds(HandReading, tcp=poses, width_m=st.floats(0, 0.08), force_n=st.none() | triples)
scenes = st.builds(
    Scene,
    st.lists(objects, max_size=3).map(tuple),
    st.lists(skills, max_size=3).map(tuple),
    st.lists(facts, max_size=3).map(tuple),
    stamps,
    st.none() | hands,
)
counts = st.integers(0, 2**31 - 1)
model_calls = st.builds(
    ModelCall,
    role=texts,
    model=texts,
    prompt_tokens=counts,
    completion_tokens=counts,
    duration_s=floats,
    retries=counts,
    prompt_chars=counts,
    stable_chars=counts,
    sent_tokens=counts,
    prompt=st.lists(st.builds(PromptText, texts, texts, texts), max_size=3).map(tuple),
    error=texts,
)
outcomes = st.builds(
    Outcome,
    call=calls,
    status=st.sampled_from(Status),
    code=st.sampled_from(Code),
    message=texts,
    raw=texts,
    duration_s=floats,
)
