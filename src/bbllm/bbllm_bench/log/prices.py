"""
Price tables: what a million tokens cost, by model.

A table is a YAML file that the user writes; `config/prices.example.yaml` shows the form:

    currency: USD
    models:
      name-of-the-model: {prompt: 0, completion: 0}

No prices come with this program: they change, and a wrong one is worse than none.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bbllm.core.errors import ConfigError
from bbllm.core.events import ModelCall
from bbllm.core.reading import read_text
from bbllm.core.registry import provider_names
from bbllm.files.yaml_files import MOST_BYTES, MOST_FAULTS, YamlError, parse_yaml

MILLION = 1_000_000
FREE = frozenset({'lexical', *provider_names()})
"""Models of this program itself: they take no tokens."""
_AS_REPORTED = re.compile(
    r'(?:replay of )?(?P<model>.+?)(?: \((?:text|schema)\)| matching)?', re.DOTALL
)
FORM = (
    'An example of a price table:\n'
    '    currency: USD\n'
    '    models:\n'
    '      name-of-the-model: {prompt: 0.0, completion: 0.0}\n'
    'with prices per million tokens.'
)

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


class Price(BaseModel):
    """What a million tokens of one model cost."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    prompt: Amount
    completion: Amount


class PriceTable(BaseModel):
    """Prices of some models in one currency."""

    model_config = ConfigDict(extra='forbid', frozen=True)

    currency: Annotated[str, Field(pattern=r'^[A-Za-z$€£¥]{1,8}$')]
    models: Annotated[dict[str, Price], Field(min_length=1)]

    @property
    def by_model(self) -> dict[str, tuple[float, float]]:
        """Prices of a million prompt and completion tokens, as `RunConfig` has them."""
        return {name: (price.prompt, price.completion) for name, price in self.models.items()}


def load_prices(path: Path) -> PriceTable:
    """Read a price table; raises ConfigError where it is none, and names the wrong entry."""
    try:
        return PriceTable.model_validate(parse_yaml(read_text(path, MOST_BYTES)))
    except OSError as error:
        fault = f'cannot be read ({error.strerror}). '
    except UnicodeDecodeError:
        fault = 'is not UTF-8 text. '
    except YamlError as error:
        fault = f'{error}. '
    except ValidationError as error:
        fault = 'is wrong:\n    ' + '\n    '.join(faults_in(error)) + '\n'
    raise ConfigError(f'The price table {path} {fault}{FORM}')


def faults_in(error: ValidationError) -> list[str]:
    """Return the first wrong entries of a file, each with its fault."""
    return [
        f'{".".join(map(str, fault["loc"])) or "the file"}: {fault["msg"]}'
        for fault in error.errors()[:MOST_FAULTS]
    ]


def cost_of(
    calls: Sequence[ModelCall], prices: Mapping[str, tuple[float, float]], asked: Mapping[str, str]
) -> float | None:
    """
    Return the cost of the calls of an episode, None where it cannot be computed.

    It cannot without a price table, for a model that the table lacks, and where the
    server of one role never counted its tokens: a part is not given for the whole.

    Args:
        calls: All of them.
        prices: By model, of a million prompt and of a million completion tokens.
        asked: By role, what reports call who was asked. A server may call `gpt-4o` by the date of
            its release; a price under either name counts, the server's own first.
    """
    if not prices:
        return None
    # A call that failed has no tokens on record and needs no price.
    counted = [call for call in calls if call.prompt_tokens or call.completion_tokens]
    silent = {call.role for call in calls} - {call.role for call in counted}
    if any(call.role in silent and call.model not in FREE for call in calls):
        return None
    parts = []
    for call in counted:
        price = prices.get(call.model) or prices.get(asked_model(asked.get(call.role, '')))
        if price is None:
            return None
        parts.append(call.prompt_tokens * price[0] + call.completion_tokens * price[1])
    return math.fsum(parts) / MILLION


def asked_model(name: str) -> str:
    """
    Return which model a Brain or Body asks, from what reports call it.

    The names are those of llm.replay and planners.bodies: `replay of gpt-4o (text)` is gpt-4o.
    """
    match = _AS_REPORTED.fullmatch(name)
    return match['model'] if match else name
