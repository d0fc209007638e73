"""
Keeps a whole conversation with the models in one file, and answers from it again.

A recording is JSON lines, one per exchange, written when the exchange is over. Brain and Body
share the file, also from two processes. An embedder is recorded as a model that is asked a list of
texts in JSON and answers with a list of vectors. A vector is written in single precision,
compressed and in base64, for as decimal numbers those of one episode would take a megabyte. A
recording run and its replay get the same rounded vectors.

A finished recording may be compressed, `xz talk.jsonl`: prompts repeat each other, so that it
shrinks to a hundredth. Whatever reads recordings reads `talk.jsonl.xz` as well.

A request refers to its pictures by their hashes, which a replay compares. Each picture is a line
of its own before the first request with it:

    {"picture": "9f86d081884c7d65", "data": "the PNG or JPEG file in base64", "episode": ""}

A replay does not read these lines.

Each exchange states which version of bbllm asked, and a hash of its templates of prompts. Whether
a prompt has changed since is decided by the requests: a template may have been moved, or changed
where this request does not show it.
"""

import base64
import fcntl
import hashlib
import json
import lzma
import struct
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

import pydantic

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import (
    ConfigError,
    EndlessReplyError,
    ModelDeclinedError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    NoImagesError,
    PromptTooLongError,
    ReplayError,
)
from bbllm.core.events import hash_of
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import (
    ChatModel,
    Embedder,
    Embeddings,
    JsonSchema,
    Message,
    ModelRequest,
    OnText,
    Reply,
    ToolCall,
)
from bbllm.core.provenance import code_version, templates_hash
from bbllm.core.reading import read_regular, read_xz

FORMAT = 1
_ERRORS: dict[str, type[ModelError]] = {
    error.__name__: error
    for error in (
        ModelError,
        ModelUnavailableError,
        ModelRefusedError,
        PromptTooLongError,
        NoImagesError,
        ModelDeclinedError,
        EndlessReplyError,
    )
}
_VALID_FOR = (
    'A recording is valid only for the same task, scene, planner, settings and version of bbllm; '
    'make a new one with --record, or replay that of a suite with --changed-prompts.'
)


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One message of a request."""

    role: str
    """`system`, `user`, `assistant` or `tool`."""
    content: str
    images: tuple[str, ...] = ()
    """Hashes of its pictures, in their order."""
    calls: tuple[ToolCall, ...] = ()
    """Tools that it calls."""
    call_id: str = ''
    """Of the call whose result it is; '' of other messages."""

    @classmethod
    def of(cls, message: Message) -> 'RecordedMessage':
        images = tuple(map(hash_of, message.images))
        return cls(message.role, message.content, images, message.calls, message.call_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it; a line of a recording."""

    format: int
    role: str
    """`brain` or `body`."""
    name: str
    """The model's name in reports."""
    supports_schema: bool
    """Whether the model honoured schemas when it was asked."""
    messages: tuple[RecordedMessage, ...]
    stop: tuple[str, ...]
    schema_hash: str
    tools: str = ''
    """The tools that were offered, as JSON; '' without any."""
    reply: Reply | None = None
    error: str | None = None
    """Type of the error where there was no reply."""
    error_text: str = ''
    prompt_limit_tokens: int | None = None
    """How long the model's prompts could be; None without a limit [tokens]."""
    episode: str = ''
    """Which episode of a run it belongs to; '' in the recording of a single one."""
    date: str = ''
    """Day of the reply (UTC), as in 2026-11-23; '' in older recordings."""
    code: str = ''
    """Version of bbllm that asked; '' where it was not noted."""
    templates: str = ''
    """Hash of the templates of prompts of that version (core.provenance), likewise."""


_EXCHANGE = pydantic.TypeAdapter(Exchange)


def line_of(exchange: Exchange) -> str:
    return json.dumps(asdict(exchange), ensure_ascii=False) + '\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPicture:
    """One picture; a line of a recording."""

    picture: str
    """Its hash."""
    data: str
    """The PNG or JPEG file in base64."""
    episode: str = ''
    """As in `Exchange`."""

    @classmethod
    def of(cls, picture: bytes, episode: str) -> 'RecordedPicture':
        data = base64.b64encode(picture).decode()
        return cls(picture=hash_of(picture), data=data, episode=episode)


_PICTURE = pydantic.TypeAdapter(RecordedPicture)
_PICTURE_LINE = '{"picture": '
"""How the lines of pictures begin."""


def recorded_pictures(text: str) -> dict[str, bytes]:
    """Return the pictures among the lines of a recording by hash, without damaged ones."""
    found: dict[str, bytes] = {}
    for line in text.split('\n'):
        if line.startswith(_PICTURE_LINE):
            with suppress(ValueError):
                item = _PICTURE.validate_json(line)
                data = base64.b64decode(item.data, validate=True)
                if hash_of(data) == item.picture:
                    found[item.picture] = data
    return found


COMPRESSED = '.xz'


def recording_text(path: Path) -> str:
    """Return the lines of a recording, compressed or not; raises ReplayError."""
    try:
        return (read_xz if path.suffix == COMPRESSED else read_regular)(path).decode()
    except lzma.LZMAError:
        reason = 'it is cut or damaged; get a whole copy of it'
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is not text'
    raise ReplayError(f'Cannot read the recording {path}: {reason}.')


def check_place(path: Path) -> None:
    """Raise ConfigError where a recording cannot be written as it goes on."""
    if path.suffix == COMPRESSED:
        raise ConfigError(
            f'{path} cannot be appended to, since it is compressed. Name {path.with_suffix("")} '
            'for --record, and compress it afterwards: `xz FILE`.'
        )


def answered(path: Path) -> str:
    """Return the lines of a recording without its errors; see `parse_recording`."""
    text = recording_text(path)
    lines = text.split('\n')[:-1]  # what follows the last line break was cut by a crash
    pictures = ''.join(f'{line}\n' for line in lines if line.startswith(_PICTURE_LINE))
    exchanges = parse_recording(text, path)
    return pictures + ''.join(line_of(each) for each in exchanges if each.reply is not None)


def read_recording(path: Path) -> list[Exchange]:
    return parse_recording(recording_text(path), path)


def parse_recording(text: str, path: Path) -> list[Exchange]:
    """Return all exchanges, oldest first; raise ReplayError for a line of anything else."""
    lines = text.split('\n')
    torn = lines.pop()  # by a crash while it was written, unless it is empty
    exchanges: list[Exchange] = []
    for i, line in enumerate([*lines, torn] if torn else lines):
        if line.startswith(_PICTURE_LINE):
            continue
        exchange: Exchange | None = None
        try:
            exchange = _EXCHANGE.validate_json(line)
        except pydantic.ValidationError:
            if i == len(lines):
                break
        if exchange is None or exchange.format != FORMAT:
            raise ReplayError(
                f'Line {i + 1} of {path} is no recorded exchange in format {FORMAT}. A recording '
                'is made by --record, and replayed by the release that made it.'
            )
        exchanges.append(exchange)
    return exchanges


_Request = list[tuple[str, str]]
"""Each line of a request and other parts of it, with their names."""


def _request(
    messages: Sequence[RecordedMessage], stop: Sequence[str], schema_hash: str, tools: str
) -> _Request:
    lines: _Request = []
    for i, message in enumerate(messages, start=1):
        name = f'message {i} ({message.role})'
        texts = enumerate(message.content.split('\n'), start=1)
        lines += [(f'{name}, line {line}', text) for line, text in texts]
        lines += [
            (f'{name}, picture {number}', f'hash {each}')
            for number, each in enumerate(message.images, start=1)
        ]
        lines += [(f'{name}, call', f'{call.id} {call}') for call in message.calls]
        lines += [(f'{name}, id', message.call_id)] if message.call_id else []
    stops = ', '.join(map(repr, stop)) or 'none'
    return [
        *lines,
        ('the stop strings', stops),
        ('the JSON schema', schema_hash),
        ('the tools', tools),
    ]


def _schema_hash_of(schema: JsonSchema | None) -> str:
    if schema is None:
        return ''
    return hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()


def _asked(request: ModelRequest) -> _Request:
    messages = list(map(RecordedMessage.of, request.messages))
    schema_hash = _schema_hash_of(request.schema)
    return _request(messages, request.stop, schema_hash, request.declared_tools)


class RecordingModel(ModelWrapper):
    """
    A model whose exchanges are appended to a file, which brain and body share.

    *earlier* are lines that the file already has, of an episode that was interrupted: they answer
    again, and the model is asked only what is new.
    *other* are lines of another recording that do the same; those that are used are copied.
    """

    def __init__(
        self,
        inner: ChatModel,
        path: Path,
        role: str,
        *,
        episode: str = '',
        earlier: str = '',
        other: str = '',
    ):
        check_place(path)
        if path.is_dir():
            raise ConfigError(
                f'The recording {path} is a folder. Name a file in it: --record '
                f'{path / "talk.jsonl"}.'
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot_write(path, error) from error
        super().__init__(inner)
        self._path = path
        self._role = role
        self._episode = episode
        self._earlier = ReplayModel(path, role, text=earlier)
        self._other = ReplayModel(path, role, text=other)
        self._kept = set(recorded_pictures(earlier))
        """Hashes of the pictures that the file has."""
        self._replayed: ReplayModel | None = None
        """What answered the last request in place of the model."""

    @property
    def supports_schema(self) -> bool:
        return (self._replayed or self.inner).supports_schema

    @property
    def streams(self) -> bool:
        # A replay does not stream either, and would be asked otherwise.
        return False

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer a conversation and keep it; see `ChatModel.ask`."""
        if (known := self._earlier.find(request)) is not None:
            self._replayed = self._earlier
            return known
        copied = self._other.take(request)
        if copied is not None and copied.reply is not None:
            self._replayed = self._other
            # Under the name of the episode that was played, which may be of fewer loops.
            self._append(replace(copied, episode=self._episode), request)
            return copied.reply
        exchange = Exchange(
            format=FORMAT,
            role=self._role,
            name=self.name,
            supports_schema=self.supports_schema,
            prompt_limit_tokens=self.prompt_limit_tokens,
            messages=tuple(map(RecordedMessage.of, request.messages)),
            stop=tuple(request.stop),
            schema_hash=_schema_hash_of(request.schema),
            tools=request.declared_tools,
            episode=self._episode,
            date=datetime.now(UTC).date().isoformat(),
            code=code_version(),
            templates=templates_hash(),
        )
        self._replayed = None
        try:
            reply = self.inner.ask(request)
        except ModelError as error:
            kind = type(error).__name__
            self._append(replace(exchange, error=kind, error_text=str(error)), request)
            raise
        self._append(replace(exchange, reply=reply), request)
        return reply

    def _append(self, exchange: Exchange, request: ModelRequest) -> None:
        new = {hash_of(each): each for message in request.messages for each in message.images}
        line = ''.join(
            f'{json.dumps(asdict(RecordedPicture.of(new[name], self._episode)))}\n'
            for name in new
            if name not in self._kept
        )
        self._kept |= new.keys()
        line += line_of(exchange)
        try:
            with self._path.open('ab') as file:
                # Brain and Body may be two processes; a line is long enough to be torn.
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed, all of it written
                file.write(line.encode(errors='replace'))
        except OSError as error:
            raise _cannot_write(self._path, error) from error


class ReplayModel:
    """
    Answers from a recording, without a server or a key.

    Equal requests are answered in the order in which they were recorded. A recording without this
    role is accepted, as long as nothing is asked. *text* are the lines of one episode, if they
    were read before.

    With *changed_prompts* a request that is not recorded is answered by the first reply that was
    not given yet, and `changes` gets a sentence: such a reply was given to another prompt, and
    is no evidence of what the model would reply to this one.

    Raises ReplayError if the file cannot be read, or is empty.
    """

    def __init__(
        self, path: Path, role: str, *, text: str | None = None, changed_prompts: bool = False
    ):
        self.changes: list[str] = []
        """Where a prompt is not the one that was replied to, reply by reply."""
        self._path = path
        self._role = role
        self._changed_prompts = changed_prompts
        exchanges = read_recording(path) if text is None else parse_recording(text, path)
        if not exchanges and text is None:
            raise ReplayError(f'{path} is empty. {_VALID_FOR}')
        self._exchanges = [item for item in exchanges if item.role == role]
        self._requests = [
            _request(item.messages, item.stop, item.schema_hash, item.tools)
            for item in self._exchanges
        ]
        self._open = list(range(len(self._exchanges)))
        """Which exchanges were not asked for yet."""
        self.name, self.supports_schema = 'replay', False
        self.prompt_limit_tokens: int | None = None
        if self._exchanges:
            self.name = f'replay of {self._exchanges[0].name}'
            self.supports_schema = self._exchanges[0].supports_schema
            # Or prompts would be shortened otherwise than in the recording.
            self.prompt_limit_tokens = self._exchanges[0].prompt_limit_tokens

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        begun_s = time.monotonic()
        reply = self.find(request)
        if reply is None:
            difference = self._difference(_asked(request), request)
            raise ReplayError(f'{difference}. {self._made_by()}{_VALID_FOR}')
        return replace(reply, duration_s=time.monotonic() - begun_s)

    def find(self, request: ModelRequest) -> Reply | None:
        """
        Return what was recorded for a request, once; None where nothing (more) was.

        Raises:
            ModelError: What was recorded is this error.
        """
        exchange = self.take(request)
        if exchange is not None and exchange.reply is None:
            raise _ERRORS.get(exchange.error or '', ModelError)(exchange.error_text)
        return exchange.reply if exchange is not None else None

    def take(self, request: ModelRequest) -> Exchange | None:
        """Return the exchange that was recorded for a request, once; None without another."""
        asked = _asked(request)
        at = next((i for i in self._open if self._requests[i] == asked), None)
        if at is None and self._open and self._changed_prompts:
            self.changes.append(f'{self._difference(asked, request)}.')
            at = self._open[0]
        if at is None:
            return None
        self._open.remove(at)
        if self._open:
            # A server may turn out not to take schemas in mid-conversation.
            self.supports_schema = self._exchanges[self._open[0]].supports_schema
        return self._exchanges[at]

    def _made_by(self) -> str:
        """Return a sentence where the next recorded request is of another version; else ''."""
        at = self._open[0] if self._open else -1
        code = self._exchanges[at].code if self._exchanges else ''
        if code in ('', code_version()):
            return ''
        return f'It was recorded by bbllm {code}; this is {code_version()}. '

    def _difference(self, asked: _Request, request: ModelRequest) -> str:
        """Return where a request differs from the next recorded one."""
        n, declared = len(self._exchanges), request.declared
        prompt = f'the prompt `{declared.kind}`' if declared is not None else 'a prompt'
        if not self._open:
            return (
                f'{self._path} has {n} exchanges of the {self._role}, all of which were '
                f'answered; now it is asked once more ({prompt})'
            )
        where = (
            f'{prompt[0].upper()}{prompt[1:]} of the {self._role} is not the recorded one: '
            f'exchange {self._open[0] + 1} of {n} in {self._path}'
        )
        if asked in self._requests:
            return f'{where} is not what is asked now, which was recorded less often'
        for old, new in zip(self._requests[self._open[0]], asked, strict=False):
            if old != new:
                break
        was, now = old[1], new[1]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False))
        # Of a long line, what differs and some words before it.
        begin = max(0, sum(1 for _ in same) - 60)
        was, now = was[begin : begin + 200], now[begin : begin + 200]
        return f'{where} differs in {new[0]}: recorded {was!r}, asked {now!r}'


def _cannot_write(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f'The recording {path} cannot be written ({error.strerror}); name a file for --record '
        'in a folder that can.'
    )


MOST_VECTOR_BYTES = 2**20
"""Of one vector, unpacked [bytes]."""
ROLE = 'body'
"""An embedder does a Body's work: so it is called in recordings."""


def recording_embedder(
    inner: Embedder,
    path: Path,
    *,
    episode: str = '',
    earlier: str = '',
    other: str = '',
) -> Embedder:
    """Return an embedder whose exchanges are appended to a file; see `RecordingModel`."""
    model = RecordingModel(
        _AsModel(inner), path, ROLE, episode=episode, earlier=earlier, other=other
    )
    return _OfModel(model, path)


def replay_embedder(path: Path, *, text: str | None = None) -> Embedder:
    """Return what answers from a recording, without a server or a key; see `ReplayModel`."""
    return _OfModel(ReplayModel(path, ROLE, text=text), path)


class _OfModel:
    """An embedder on a model that answers a list of texts with a list of vectors."""

    def __init__(self, model: ChatModel, path: Path):
        self.name = model.name
        self._model = model
        self._path = path

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        question = json.dumps(list(texts), ensure_ascii=False)
        reply = self._model.ask(ModelRequest([Message('user', question)], cancel=cancel))
        try:
            vectors = tuple(_unpacked(item) for item in json.loads(reply.text))
        except (ValueError, TypeError, zlib.error, struct.error):
            vectors = ()
        if len(vectors) != len(texts):
            raise ReplayError(f'A reply in {self._path} is not the vectors that were asked for.')
        return Embeddings(
            vectors=vectors,
            model=reply.model,
            usage=reply.usage,
            duration_s=reply.duration_s,
            retries=reply.retries,
        )


class _AsModel:
    """An embedder behind the seam of a language model."""

    supports_schema = False

    def __init__(self, inner: Embedder):
        self.name = inner.name
        self._inner = inner

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        texts = json.loads(request.messages[0].content)
        found = self._inner.embed(texts, cancel=request.cancel)
        return Reply(
            text=json.dumps([_packed(vector) for vector in found.vectors]),
            model=found.model,
            usage=found.usage,
            duration_s=found.duration_s,
            retries=found.retries,
        )


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(zlib.compress(struct.pack(f'<{len(vector)}f', *vector))).decode()


def _unpacked(text: str) -> tuple[float, ...]:
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(base64.b64decode(text, validate=True), MOST_VECTOR_BYTES)
    if not unpacker.eof:
        raise ValueError('a vector that is cut, or longer than any')
    return struct.unpack(f'<{len(raw) // 4}f', raw)
