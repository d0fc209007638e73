"""
The folder of a data set: what is in it survives the death of the process that makes it.

    settings.json    what decides which pairs there are
    pairs.jsonl      the pairs as they come, with where they come from and what the blocks
                     weighed: for checks, and not to be trained on
    episodes.jsonl   one EpisodeNote a line, each written after its pairs
    sessions.jsonl   one line for each time that a person worked on it
    alpaca.json      at the end: a list of objects with instruction, input and output
    chat.jsonl       at the end: on each line the two messages of a chat, the host's prompt to
                     the letter and the answer
    card.json, card.md: at the end
"""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.records import from_json, to_json
from bbllm_bench.benchmarks.finetuning.collected import Collected, EpisodeNote
from bbllm_bench.benchmarks.finetuning.pairs import Pair, split_prompt
from bbllm_bench.benchmarks.finetuning.paraphrases import Wordings
from bbllm_bench.benchmarks.finetuning.tasks import DataTask, count_tasks, generate_tasks
from bbllm_bench.log.files import (
    LOCK,
    JsonLines,
    claim_folder,
    cut_torn_line,
    locked,
    read_json,
    write_atomically,
)
from bbllm_bench.log.store import SESSIONS, Session

SETTINGS = 'settings.json'
EPISODES = 'episodes.jsonl'
ALPACA = 'alpaca.json'
CHAT = 'chat.jsonl'
PAIRS = 'pairs.jsonl'
CARD = 'card.json'
CARD_PAGE = 'card.md'
FORMS = 'alpaca.json, chat.jsonl or pairs.jsonl, as `bbllm data generate` writes them'


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSettings:
    """What a data set is made of."""

    pairs: int
    """How many are wanted at least; may be another number when it is gone on."""
    tasks: int
    seed: int
    planner: str
    brain: str | None = None
    """Who is asked for sentences, as it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a folder states of how its data set was begun."""

    settings: DataSettings
    chosen: tuple[str, ...]
    """The tasks, as the card lists them; another version of bbllm may choose others."""
    wordings: str = 'grammar'
    """Who made up the sentences: `grammar`, or the name of a model."""
    kept: Mapping[str, tuple[str, ...]]
    """Sentences of that model by kind, so that it is asked once."""
    refused: Mapping[str, int]
    """How many of its lines were not kept, by why."""


class DataFolder(AbstractContextManager['DataFolder']):
    """
    A data set on disk, locked as long as it is open.

    Args:
        path: The folder; it is made.

    Raises:
        ConfigError: It cannot be made, another process works in it, or it contains a data set that
            cannot be gone on with.
    """

    def __init__(self, path: Path):
        self.path = path
        claim_folder(path, SETTINGS, 'a data set')
        self._lock = locked(path / LOCK)
        self._pairs = JsonLines(path / PAIRS, Pair)
        self._notes = JsonLines(path / EPISODES, EpisodeNote)
        self._sessions = JsonLines(path / SESSIONS, Session)
        self._earlier = self._sessions.read()
        self._started_s = time.time()
        self._played = 0

    def __exit__(self, *error: object) -> None:
        self._lock.close()

    @property
    def wall_s(self) -> float:
        """How long was worked on it, this time included."""
        earlier_s = sum(session.wall_s for session in self._earlier)
        return earlier_s + time.time() - self._started_s

    def begin(
        self, asked: DataSettings, ask: Callable[[], Wordings | None]
    ) -> tuple[Begun, tuple[DataTask, ...]]:
        """
        Return what the data set is begun with, or was, and its tasks; keep that on disk.

        With the sentences of a model, which *ask* returns, there may be fewer tasks than are asked
        for; then it is of those that there are, since the model is paid.

        Raises:
            ConfigError: What is there is of other settings or of another version of bbllm.
        """
        begun = read_begun(self.path)
        if begun is not None:
            self._check_same(begun.settings, asked)
            tasks = generate_tasks(len(begun.chosen), asked.seed, more=begun.kept)
            if tuple(map(str, tasks)) != begun.chosen:
                raise ConfigError(
                    f'{self.path} holds a data set with the tasks of another version of bbllm. '
                    'Name another --out, or go on with that version.'
                )
        else:
            words = ask() or Wordings('grammar')
            count = min(asked.tasks, count_tasks(words.kept))
            tasks = generate_tasks(count, asked.seed, more=words.kept)
            begun = Begun(
                settings=asked,
                chosen=tuple(map(str, tasks)),
                wordings=words.model,
                kept=words.kept,
                refused=dict(words.refused),
            )
        write_atomically(self.path / SETTINGS, _pretty(to_json(begun)))
        return begun, tasks

    def _check_same(self, was: DataSettings, now: DataSettings) -> None:
        """Keep pairs of other settings out of the folder; only how many are wanted may differ."""
        old, new = asdict(was), asdict(now)
        changed = [name for name in old if name != 'pairs' and old[name] != new[name]]
        if changed:
            lines = [f'  {name}: was {old[name]}, is {new[name]}\n' for name in changed]
            raise ConfigError(
                f'{self.path} holds a data set with other settings:\n{"".join(lines)}'
                'Name another --out, or add --resume to go on with the settings that it was begun '
                'with.'
            )

    def load(self) -> Collected:
        """
        Return what is there, and take away what an end left half done.

        Raises:
            ConfigError: A file is not what was written.
        """
        for path in (self._notes.path, self._pairs.path):
            cut_torn_line(path)
        notes, pairs = self._notes.read(), self._pairs.read()
        wanted = sum(note.pairs for note in notes)
        if wanted > len(pairs):
            raise ConfigError(
                f'{self.path / PAIRS} has {len(pairs)} pairs, but {EPISODES} tells of {wanted}. '
                'Put the file back as it was, or name another --out.'
            )
        if wanted < len(pairs):
            # Their episode was not told any more, so it is played again.
            self._pairs.write(pairs[:wanted])
        found, start = Collected(), 0
        for note in notes:
            found.add(note, pairs[start : start + note.pairs])
            start += note.pairs
        return found

    def add(self, note: EpisodeNote, pairs: Sequence[Pair]) -> None:
        """
        Keep an episode: it is on disk when this returns.

        Raises:
            ConfigError: The disk takes no more; what is there stays whole.
        """
        if pairs:
            self._pairs.append(pairs)
        self._notes.append([note])
        self._played += 1
        # After every episode, so that a session that is killed has an end too.
        session = Session(started_s=self._started_s, ended_s=time.time(), episodes=self._played)
        # Written often, and worth no wait for the disk.
        self._sessions.write([*self._earlier, session], durable=False)


def read_begun(path: Path) -> Begun | None:
    """
    Return how the data set of a folder was begun, None where there is none.

    Raises:
        ConfigError: The folder contains something else.
    """
    if not (path / SETTINGS).exists():
        return None
    try:
        return from_json(Begun, read_json(path / SETTINGS))
    except ValueError as error:
        raise ConfigError(
            f'{path / SETTINGS} is not that of a data set that this version of bbllm can go on '
            f'with ({error}). Name another --out.'
        ) from None


def settings_to_resume(path: Path, asked: DataSettings, given: Collection[str]) -> DataSettings:
    """
    Return the settings of what is in a folder, but for those that were given.

    Raises:
        ConfigError: There is nothing to go on with.
    """
    begun = read_begun(path)
    if begun is None:
        raise ConfigError(
            f'{path} holds no data set to go on with; leave --resume out to begin one there.'
        )
    changes = {name: value for name, value in asdict(asked).items() if name in given}
    return replace(begun.settings, **changes)


def write_pairs(pairs: Sequence[Pair], folder: Path) -> None:
    """Write the files with pairs; raises ConfigError where the folder cannot be written."""
    forms = ('instruction', 'input', 'output')
    alpaca = [{name: getattr(pair, name) for name in forms} for pair in pairs]
    chats = [
        {
            'messages': [
                {'role': 'user', 'content': pair.prompt},
                {'role': 'assistant', 'content': pair.output},
            ]
        }
        for pair in pairs
    ]
    write_atomically(folder / ALPACA, _pretty(alpaca))
    lines = (json.dumps(chat, ensure_ascii=False) + '\n' for chat in chats)
    write_atomically(folder / CHAT, ''.join(lines))
    JsonLines(folder / PAIRS, Pair).write(pairs)


def write_card(card: Mapping[str, Any], page: str, folder: Path) -> None:
    """Write the card; raises ConfigError where the folder cannot be written."""
    write_atomically(folder / CARD, _pretty(card))
    write_atomically(folder / CARD_PAGE, page)


def read_pairs(path: Path) -> list[Pair]:
    """
    Read any of the three files with pairs.

    Raises:
        ConfigError: It cannot be read, or is none of them.
    """
    try:
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is not text'
        raise ConfigError(f'Cannot read {path}: {reason}.') from None
    try:
        if text.lstrip().startswith('['):
            return [_read_pair(entry) for entry in json.loads(text)]
        found = [_read_pair(json.loads(line)) for line in text.splitlines() if line.strip()]
    except (ParseError, ValueError) as error:
        raise ConfigError(f'{path} has what is no pair ({error}). It must be {FORMS}.') from None
    if not found:
        raise ConfigError(f'{path} is empty. It must be {FORMS}.')
    return found


def _read_pair(data: Any) -> Pair:
    """Return a pair of any form; raises ParseError or ValueError."""
    if isinstance(data, dict) and 'messages' in data:
        asked, answered = (message['content'] for message in data['messages'])
        instruction, given = split_prompt(asked)
        data = {'instruction': instruction, 'input': given, 'output': answered}
    return from_json(Pair, data)


def _pretty(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1) + '\n'
