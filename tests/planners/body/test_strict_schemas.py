"""Schemas that planners send obey the strict mode of structured outputs, which servers enforce."""

from collections.abc import Iterator, Mapping

import pytest

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
