"""`bbllm bench voice`: synthesised commands and stop words in noise, and what is understood."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated

import numpy as np
import typer

from bbllm.cli.support.options import JsonOption, LlmConfigOption
from bbllm.core.errors import ConfigError
from bbllm.llm.config import load_config
from bbllm_bench.benchmarks.shared import TrialBar, number, percentile, rate_text, write_report
from bbllm_bench.benchmarks.voice.figures import same_command, word_errors
from bbllm_bench.benchmarks.voice.phrases import COMMANDS, FOREIGN, NAMES, STOPS
from bbllm_bench.benchmarks.voice.speech import LEAD_S, VOICES, Voice, cough, in_noise
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import Grid, grid_of
from bbllm_voice.sound import FRAME_S, RATE_HZ, Sound, frames
from bbllm_voice.stop_words import StopSpotter, is_spoken_stop
from bbllm_voice.transcribers import Transcriber, make_transcriber
from bbllm_voice.utterances import Utterances

SURE = 0.8
"""A wrong command of at least this confidence is counted apart."""
FOREIGN_SNR_DB = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One sound, and what became of it."""

    kind: str
    """`command`, `stop`, or the sound that is none."""
    spoken: str
    voice: str
    snr_db: float
    understood: str
    """The texts of all utterances that were cut out of it."""
    confidence: float
    n_utterances: int
    speech_s: float
    transcribed_s: float
    """Wall clock, of all utterances [s]."""
    spotted_s: float | None
    """When the spotter found a stop word, from the end of the speech, in time of the sound [s]."""


def voice(
    snr: Annotated[
        str, typer.Option(metavar='LIST', help='Ratios of speech to noise [dB].')
    ] = '20',
    sentences: Annotated[
        int, typer.Option(min=1, max=len(COMMANDS), help='How many commands.')
    ] = len(COMMANDS),
    piper: Annotated[
        Path | None,
        typer.Option(metavar='FILE', help='Model of Piper (.onnx) as one more voice.'),
    ] = None,
    llm_config: LlmConfigOption = None,
    seed: Annotated[int, typer.Option(min=0, help='Of the noise.')] = 0,
    out: Annotated[Path, typer.Option(help='Where the JSON goes.')] = Path('bench-voice.json'),
    json: JsonOption = False,
) -> None:
    """
    Speak commands and stop words in several voices, with noise, and count what is understood.

    The section `speech` of the configuration chooses the transcriber. It measures word errors,
    commands that are right, delays, and stops that were missed or not meant. White noise and
    synthetic voices are no people in a room: figures compare settings.

    Examples:
      bbllm bench voice
      bbllm bench voice --sentences 8 --snr 20
      bbllm bench voice --piper en_US-joe-medium.onnx
    """
    transcriber = make_transcriber(load_config(llm_config).speech)
    voices = (*VOICES, *((Voice(str(piper)),) if piper else ()))
    ratios = _ratios(snr)
    commands = COMMANDS[:: len(COMMANDS) // sentences][:sentences]
    sounds = list(_sounds(voices, ratios, commands, np.random.default_rng(seed)))
    trials, spotter = [], StopSpotter()
    with TrialBar(len(sounds), every=50) as bar:
        for item in sounds:
            trials.append(_play(transcriber, spotter, *item))
            bar.advance(f'{item[0]}: {item[1][:40]}')
    report = {
        'machine': describe_machine(),
        'transcriber': transcriber.label,
        'seed': seed,
        'trials': trials,
    }
    notes = (f'{transcriber.label}; voices {", ".join(item.name for item in voices)}',)
    write_report(out, report, grids_of(trials), notes, json=json)


def _ratios(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(','))
    except ValueError:
        raise ConfigError(f'--snr {text} is no list of numbers; write 30,20,10.') from None


Item = tuple[str, str, str, float, float, Sound]


def _sounds(
    voices: Sequence[Voice],
    ratios: Sequence[float],
    commands: Sequence[str],
    rng: np.random.Generator,
) -> Iterator[Item]:
    for kind, texts in (('command', commands), ('stop', STOPS)):
        for text in texts:
            for item in voices:
                speech = item.speech(text)
                length_s = len(speech) / RATE_HZ
                for ratio in ratios:
                    yield kind, text, item.name, ratio, length_s, in_noise(speech, ratio, rng)
    for language, text in FOREIGN:
        speech = Voice(language).speech(text)
        sound = in_noise(speech, FOREIGN_SNR_DB, rng)
        yield 'other language', text, language, FOREIGN_SNR_DB, len(speech) / RATE_HZ, sound
    yield 'silence', '', 'none', np.inf, 0.0, np.zeros(10 * RATE_HZ, np.float32)
    noise = rng.normal(0.0, 0.05, 60 * RATE_HZ).astype(np.float32)
    yield 'noise, 60 s', '', 'none', np.inf, 0.0, noise
    for index in range(5):
        yield 'cough', '', f'{index}', np.inf, 0.0, cough(rng)
    endless = ' '.join(COMMANDS[:10]).replace(',', '')
    sound = VOICES[0].speech(endless)
    yield 'endless', endless, VOICES[0].name, np.inf, len(sound) / RATE_HZ, sound


def _play(
    transcriber: Transcriber,
    spotter: StopSpotter,
    kind: str,
    spoken: str,
    name: str,
    ratio: float,
    speech_s: float,
    sound: Sound,
) -> Trial:
    spotter.reset()
    utterances = Utterances()
    texts, confidence, spent_s, spotted_s = [], 1.0, 0.0, None
    found = 0
    for index, frame in enumerate(frames(sound), 1):
        if spotter.feed(frame) and spotted_s is None:
            spotted_s = index * FRAME_S - LEAD_S - speech_s
        utterance = utterances.feed(frame)
        if utterance is None:
            continue
        found += 1
        begun_s = perf_counter()
        transcript = transcriber.transcribe(utterance, NAMES)
        spent_s += perf_counter() - begun_s
        if transcript.text:
            texts.append(transcript.text)
            confidence = min(confidence, transcript.confidence)
    return Trial(
        kind=kind,
        spoken=spoken,
        voice=name,
        snr_db=ratio,
        understood=' '.join(texts),
        confidence=confidence if texts else 0.0,
        n_utterances=found,
        speech_s=speech_s,
        transcribed_s=spent_s,
        spotted_s=spotted_s,
    )


def grids_of(trials: Sequence[Trial]) -> tuple[Grid, ...]:
    """Return the tables of commands, of stop words, and of sounds that are neither."""
    commands = [trial for trial in trials if trial.kind == 'command']
    stops = [trial for trial in trials if trial.kind == 'stop']
    others = [trial for trial in trials if trial.kind not in ('command', 'stop')]
    ratios = sorted({trial.snr_db for trial in commands}, reverse=True)
    voices = list(dict.fromkeys(trial.voice for trial in commands))

    def parts(of: Sequence[Trial]) -> Iterator[tuple[str, list[Trial]]]:
        for ratio in ratios:
            yield f'{ratio:g} dB', [trial for trial in of if trial.snr_db == ratio]
        for name in voices:
            yield Path(name).stem, [trial for trial in of if trial.voice == name]

    return (
        grid_of(
            'Commands',
            [{'speech': name, **_command_row(part)} for name, part in parts(commands)],
            [{'speech': 'all', **_command_row(commands)}],
        ),
        grid_of(
            'Stop words',
            [{'speech': name, **_stop_row(part)} for name, part in parts(stops)],
            [{'speech': 'all', **_stop_row(stops)}],
        ),
        grid_of(
            'Stops that were not meant, and text of other sounds',
            [_other_row('commands', commands)]
            + [
                _other_row(kind, [trial for trial in others if trial.kind == kind])
                for kind in dict.fromkeys(trial.kind for trial in others)
            ],
        ),
    )


def _command_row(trials: Sequence[Trial]) -> dict[str, str]:
    errors = [word_errors(trial.spoken, trial.understood) for trial in trials]
    right = [same_command(trial.spoken, trial.understood) for trial in trials]
    sure = sum(
        not good and trial.confidence >= SURE for good, trial in zip(right, trials, strict=True)
    )
    wrong, spoken = (sum(part) for part in zip(*errors, strict=True))
    spent = [trial.transcribed_s for trial in trials]
    return {
        'n': str(len(trials)),
        'word errors': number(wrong / spoken, 2),
        'right command': rate_text(sum(right), len(trials)),
        f'wrong, sure >= {SURE:g}': str(sure),
        'no text': str(sum(not trial.understood for trial in trials)),
        'transcribed in [s]': number(percentile(spent, 50), 2),
        'p95 [s]': number(percentile(spent, 95), 2),
        'per s of speech [s]': number(sum(spent) / sum(trial.speech_s for trial in trials), 2),
    }


def _stop_row(trials: Sequence[Trial]) -> dict[str, str]:
    spotted = [trial.spotted_s for trial in trials if trial.spotted_s is not None]
    texts = [is_spoken_stop(trial.understood) for trial in trials]
    either = sum(
        text or trial.spotted_s is not None for text, trial in zip(texts, trials, strict=True)
    )
    return {
        'n': str(len(trials)),
        'by sound': rate_text(len(spotted), len(trials)),
        'after the word [s]': number(percentile(spotted, 50), 2),
        'p95 [s]': number(percentile(spotted, 95), 2),
        'by text': rate_text(sum(texts), len(trials)),
        'transcribed in [s]': number(percentile([t.transcribed_s for t in trials], 50), 2),
        'by either': rate_text(either, len(trials)),
    }


def _other_row(name: str, trials: Sequence[Trial]) -> dict[str, str]:
    return {
        'sound': name,
        'n': str(len(trials)),
        'stops by sound': str(sum(trial.spotted_s is not None for trial in trials)),
        'stops by text': str(sum(is_spoken_stop(trial.understood) for trial in trials)),
        'with text': str(sum(bool(trial.understood) for trial in trials)),
    }
