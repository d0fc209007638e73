"""
Reads `config/llm.yaml`: which model is the Brain, which the Body, and what may embed for it.

Keys come from the environment only. A file may name the variable, never contain the value.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
)

from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.core.reading import read_text
from bbllm.core.redaction import SECRET_NAMES, Redactor, is_key_like
from bbllm.core.registry import provider_names
from bbllm.files.yaml_files import MOST_BYTES, FileRecord, YamlError, explain, parse_yaml

BUILT_IN = ('auto', 'openai', 'replay')
EmbeddingProvider = Literal['auto', 'lexical', 'openai', 'replay']

GOAL_SUFFIX = '.goal.yaml'
"""Ends the names of files by which `bbllm bench` hands the goal of a case to a node's model."""
LEAST_PROMPT_TOKENS = 2000
"""What a planner's prompt takes in its first rounds."""

_VARIABLE = re.compile(r'[A-Z_][A-Z0-9_]*')
_LOGIN_IN_URL = re.compile(r'://[^/\s]*@')


def _variable_name(value: str) -> str:
    if not _VARIABLE.fullmatch(value):
        raise ValueError('must be the NAME of an environment variable, like OPENAI_API_KEY')
    return value


def _room_for_prompts(value: int | None, info: ValidationInfo) -> int | None:
    least = info.data.get('max_tokens', 0) + LEAST_PROMPT_TOKENS
    if value is not None and value < least:
        raise ValueError(
            f'must be at least {least}, which is max_tokens for the reply and '
            f'{LEAST_PROMPT_TOKENS} for the shortest prompts, not {value}'
        )
    return value


def _provider(value: str) -> str:
    if value not in (known := (*BUILT_IN, *provider_names())):
        raise ValueError(f'must be one of {", ".join(known)}, not {value[:60]!r}')
    return value


_Variable = Annotated[str, AfterValidator(_variable_name)]
_ModelName = Annotated[str, Field(max_length=200)]
ToolFormat = Literal['auto', 'native', 'text']
ReplyFormat = Literal['auto', 'json_schema', 'tool', 'json_object', 'text']
Effort = Literal['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
ImageDetail = Literal['low', 'high', 'auto']
_Seconds = Annotated[float, Field(gt=0, le=3600)]


LIMITS = ('requests_per_minute', 'concurrent_requests')
"""Fields of a section that limit how much is asked of its server, and change no reply."""


class ServerConfig(FileRecord):
    """What every section of the file has: where a server is and how long to wait for it."""

    model_config = ConfigDict(allow_inf_nan=False)

    provider: str
    model: _ModelName = ''
    """Must be named where the provider is `openai`: no default would stay a good one."""
    base_url: str | None = None
    """Where the server is; wins over the variable."""
    base_url_env: _Variable = 'OPENAI_BASE_URL'
    api_key_env: _Variable = 'OPENAI_API_KEY'
    """Name of the variable that the key comes from."""
    timeout_s: _Seconds = 120.0
    """For one whole reply [s]."""
    connect_timeout_s: _Seconds = 10.0
    """For the connection to be made [s]."""
    retries: Annotated[int, Field(ge=0, le=20)] = 3
    """How often a request that failed is sent again."""
    requests_per_minute: Annotated[float | None, Field(gt=0, le=1_000_000)] = None
    """How many requests this machine sends to the server at most; None: as many as it likes."""
    concurrent_requests: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many of them are under way at once at most."""
    recording: Path | None = None
    """What `provider: replay` answers from."""


class ModelConfig(ServerConfig):
    """The section of one role: its model."""

    provider: Annotated[str, AfterValidator(_provider)] = 'auto'
    """`auto` is `openai` where a key or a base URL is set, else a built-in model without one."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.5
    """Is not sent with an `effort` other than `none`."""
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 2048
    """For reasoning and reply together; a reply that is longer ends with an error."""
    effort: Effort | None = None
    """How much a reasoning model is to reason (`reasoning_effort`); None: as the model does."""
    context_tokens: Annotated[int | None, AfterValidator(_room_for_prompts)] = None
    """What the server takes in all, prompt and reply; None where prompts are not to be cut."""
    first_token_timeout_s: _Seconds = 60.0
    """For the first word, and for each next one [s]."""
    hang_timeout_s: _Seconds = 120.0
    """For the first word in all tries together, waits between them included; one try has its own
    time-out in full, also where that is longer [s]."""
    # `schema` is a method of pydantic's models.
    reply_format: Annotated[
        ReplyFormat,
        Field(alias='schema'),
        BeforeValidator(lambda value: {True: 'json_schema', False: 'text'}.get(value, value)),
    ] = 'auto'
    """How replies are bound to a JSON schema; `auto` is `json_schema`, else `tool`, else `text`.
    The reply may be told the schema (`json_object`), be bound to it (`json_schema`), or be the
    arguments of a tool with it (`tool`)."""
    tools: ToolFormat = 'auto'
    """How a planner's tools are offered and called: in the protocol (`native`), in the text of
    prompt and reply (`text`), or in the protocol and, once the server refuses that, in text."""
    images: bool = True
    """Whether pictures may be sent; with `no`, a prompt with one is an error before it is sent."""
    image_detail: ImageDetail | None = None
    """How closely the server is to look at a picture (`detail`); None: as the server does."""
    goal: Mapping[str, JsonValue] | None = None
    """The goal of a case, for providers that need it; only `bbllm bench` sets it."""


class EmbeddingConfig(ServerConfig):
    """The section of the embedder, which a Body of the method `embedding` asks."""

    provider: EmbeddingProvider = 'auto'
    """`auto` is `openai` where a key or a base URL is set, else `lexical`."""
    timeout_s: _Seconds = 60.0


class SpeechConfig(ServerConfig):
    """The section of what turns speech into text."""

    provider: Literal['auto', 'local', 'openai'] = 'auto'
    """`auto` is `local`, so that no recording leaves this machine unasked."""
    model: Annotated[str, Field(max_length=1000)] = ''
    """Of `local` a folder with a Whisper model for CTranslate2, '' for tiny.en; of `openai` a
    name."""
    language: Annotated[str, Field(pattern=r'^([a-z]{2,3})?$')] = 'en'
    """ISO code; '' lets the model decide."""
    timeout_s: _Seconds = 30.0


Section = TypeVar('Section', bound=ServerConfig)


class LlmConfig(FileRecord):
    """The whole file."""

    brain: ModelConfig = Field(default_factory=ModelConfig)
    body: ModelConfig = Field(default_factory=ModelConfig)
    embeddings: EmbeddingConfig = Field(default_factory=EmbeddingConfig)
    eyes: ModelConfig = Field(default_factory=ModelConfig)
    """What the detector `vlm` asks for boxes."""
    speech: SpeechConfig = Field(default_factory=SpeechConfig)
    """What turns speech into text."""
    keep_prompts: bool = True
    """Whether prompts are kept beside the journals of episodes."""


def load_config(path: Path | None = None) -> LlmConfig:
    """Read a file, by default `llm.yaml` in the project's config folder."""
    if path is None:
        path = config_dir() / 'llm.yaml'
    try:
        text = read_text(path, MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', 'it is not UTF-8 text')
        raise ConfigError(f'Cannot read {path}: {reason}.') from None
    return parse_config(text, str(path), with_goal=path.name.endswith(GOAL_SUFFIX))


def parse_config(text: str, source: str, *, with_goal: bool = False) -> LlmConfig:
    """
    Parse the text of a file, which may contain the goal of a case if `with_goal`.

    Raises:
        ConfigError: The text cannot be used; never repeats what may be a key.
    """
    data = _yaml(text, source)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(
            f'{source} is no configuration of models: expected the sections `brain:`, `body:`, '
            '`embeddings:`, `eyes:` and `speech:`, or `keep_prompts:`.'
        )
    for place, value in _values(data):
        _refuse_secrets(place, value, source)
        if place.endswith('.goal') and not with_goal:
            raise ConfigError(
                f'{source}: `{place}` cannot be set: only `bbllm bench` hands a model the goal of '
                'a case; one that had it elsewhere would be taken for a planner. Take it out.'
            )
    try:
        return LlmConfig.model_validate(data)
    except ValidationError as error:
        problem = Redactor().hide(explain(error, data))
    # Outside of `except`: pydantic's own text repeats the whole input.
    raise ConfigError(f'{source}: {problem}')


def override(section: Section, option: str, text: str) -> Section:
    """
    Apply an option of the command line: a provider, the name of a model, or `openai:NAME`.

    Raises ConfigError for what is empty, or resembles a key or a misspelt provider.
    """
    text = text.strip()
    fields = type(section).model_fields
    known = get_args(fields['provider'].annotation) or (*BUILT_IN, *provider_names())
    # Names of models are long and full of digits too, so only the known shapes of keys count.
    if not text or Redactor().hide(text) != text:
        raise ConfigError(
            f'--{option} takes a provider ({", ".join(known)}) or the name of a model; `bbllm '
            'doctor` lists those of the server. Keys come from the environment: set '
            f'${section.api_key_env}.'
        )
    if text in known:
        return section.model_copy(update={'provider': text})
    named = text.removeprefix('openai:')
    close = difflib.get_close_matches(text.lower(), known, n=1, cutoff=0.75)
    if close and named == text:
        raise ConfigError(
            f'--{option} {text}: did you mean {close[0]}? A model of that name is '
            f'`--{option} openai:{text}`.'
        )
    if not named:
        raise ConfigError(f'--{option} openai: wants a model after the colon, like openai:NAME.')
    return section.model_copy(update={'provider': 'openai', 'model': named})


def _yaml(text: str, source: str) -> object:
    try:
        return parse_yaml(text)
    except YamlError as error:
        problem = Redactor().hide(str(error))
    # Outside of `except`: the error that is its cause shows the lines around, and keys in them.
    raise ConfigError(f'{source} {problem}.')


def _values(data: object, place: str = '') -> Iterator[tuple[str, object]]:
    """Yield every entry with the keys that lead to it; its value where it is a single one."""
    if isinstance(data, dict):
        for key, value in data.items():
            name = f'{place}.{key}' if place else str(key)
            yield name, None
            yield from _values(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from _values(value, place)
    else:
        yield place, data


def _refuse_secrets(place: str, value: object, source: str) -> None:
    name = place.rpartition('.')[2]
    text = value if isinstance(value, str) else ''
    if any(is_key_like(part) for part in place.split('.')):
        place, found = 'the name of an entry', True
    elif name in ('base_url', 'model', 'recording'):
        # A URL, a path or a model's name may be long and have digits in it.
        found = bool(_LOGIN_IN_URL.search(text)) or Redactor().hide(text) != text
    elif name == 'api_key_env':
        found = bool(text) and (is_key_like(text) or not _VARIABLE.fullmatch(text))
    else:
        found = is_key_like(text) or (value is not None and bool(SECRET_NAMES.search(name)))
    if found:
        raise ConfigError(
            f'{source}: {place} may be a key or a password (not shown here). Keep '
            'secrets in the environment: put the NAME of the variable into `api_key_env` (or '
            '`base_url_env` for a URL with user:password@), and set that variable in your shell.'
        )
