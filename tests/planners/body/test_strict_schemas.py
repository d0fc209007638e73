"""Schemas that planners send obey the strict mode of structured outputs, which servers enforce."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import bbllm.planners
from bbllm.core.errors import ModelError
from bbllm.core.protocols import World
from bbllm.core.types import PlanStep
from bbllm.planners.body.mapping import BodyLLM
from bbllm.testing import ScriptedModel
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import busy_table

KEYWORDS = {
    *('type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'description'),
}
"""What strict mode allows of what is used here; a schema with more needs a look at its limits."""


def faults(schema: object, place: str = 'schema') -> Iterator[str]:
    assert isinstance(schema, Mapping), place
    yield from (f'{place} has {word}' for word in schema.keys() - KEYWORDS)
    if 'type' not in schema:
        yield f'{place} has no type'
    if schema.get('type') == 'object':
        if schema.get('additionalProperties') is not False:
            yield f'{place} takes more properties'
        if sorted(schema.get('required', ())) != sorted(schema['properties']):
            yield f'{place} does not require all properties'
        for name, part in schema['properties'].items():
            yield from faults(part, f'{place}.{name}')
    if schema.get('type') == 'array':
        yield from faults(schema['items'], f'{place}[]')
    if 'enum' in schema and len(set(schema['enum'])) != len(schema['enum']):
        yield f'{place} enumerates a value twice'


@pytest.mark.parametrize('make', [busy_table, SmallHouse])
def test_the_schema_of_a_body_is_strict(make: type[World]) -> None:
    model = ScriptedModel([ModelError('enough')], supports_schema=True)

    with pytest.raises(ModelError, match='enough'):
        BodyLLM(model).map(PlanStep(0, 'think about the thing over there'), make().observe())

    assert list(faults(model.requests[0].schema)) == []


@pytest.mark.parametrize(
    ('schema', 'fault'),
    [
        ({'type': 'object', 'properties': {}, 'required': []}, 'takes more properties'),
        (
            {
                'type': 'object',
                'properties': {'a': {'type': 'string'}},
                'required': [],
                'additionalProperties': False,
            },
            'does not require all',
        ),
        ({'type': 'array', 'items': {'type': 'string', 'format': 'date'}}, r'\[\] has format'),
        ({'enum': [1, 1]}, 'no type.*twice'),
    ],
)
def test_what_is_not_strict_is_found(schema: Mapping[str, object], fault: str) -> None:
    assert re.search(fault, ' '.join(faults(schema)))


def test_no_other_planner_sends_a_schema() -> None:
    folder = Path(bbllm.planners.__file__).parent
    sending = [
        path.relative_to(folder).as_posix()
        for path in folder.rglob('*.py')
        if re.search(r'\bschema=(?!schema\b|wanted\b)', path.read_text())
    ]
    assert sending == ['body/mapping.py']
