"""Names of the methods that map steps to calls; `body.mapping` builds them."""

from enum import StrEnum


class MappingMethod(StrEnum):
    """How a Body works."""

    AUTO = 'auto'
    """A language model, with a JSON schema if it supports that."""
    TEXT = 'text'
    """A language model that answers in one line of text, without a schema."""
    SCHEMA = 'schema'
    """A language model that must support JSON schemas."""
    EMBEDDING = 'embedding'
    """No language model: the skill and the object whose words are nearest to the step's."""
