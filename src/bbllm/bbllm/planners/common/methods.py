"""Names of the ways in which steps can become calls; `bodies` builds them."""

from __future__ import annotations

from enum import Enum


class MappingMethod(str, Enum):
    """How a Body works."""

    AUTO = 'auto'
    """A language model, held to a JSON schema where it supports that."""
    TEXT = 'text'
    """A language model that answers in one line of text; it is never sent a schema."""
    SCHEMA = 'schema'
    """A language model that must support JSON schemas."""
    EMBEDDING = 'embedding'
    """No language model: the skill and the object whose words are nearest to the step's."""
