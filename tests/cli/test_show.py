"""Reading episodes back."""

import copy
import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import Result

from bbllm.cli.views.plain_view import LineView
from bbllm.core.errors import ConfigError
from bbllm.core.events import Event, EventKind
from bbllm.core.journal import line_of, read_damaged, read_episode, summarize
from bbllm.core.progress import progress_of
from tests.cli.event_examples import EXAMPLES
from tests.drawn import examples

Command = Callable[..., Result]
KEYS = {
    *('episode_id', 'task', 'planner', 'brain', 'ending', 'feedback_loops', 'steps'),
    *('model_calls', 'prompt_tokens', 'completion_tokens', 'wall_s', 'robot_s'),
}


@pytest.fixture
def journal(bbllm: Command, script: Callable[..., None]) -> Path:
    """Return the journal of an episode with a repair."""
    script()
    result = bbllm('demo', 'move some cubes', '--json')
    return Path(json.loads(result.stdout)['journal'])


def test_show_prints_the_same_as_the_live_episode_or_which_episodes_there_are(
    bbllm: Command, script: Callable[..., None], state: Path
) -> None:
    nothing = bbllm('show')
    assert (nothing.exit_code, 'bbllm demo' in nothing.stderr) == (2, True)
    script()
    live = bbllm('demo', 'move some cubes').stdout

    again = bbllm('show').stdout

    first, second = ([x for x in text.splitlines() if ' s  ' in x] for text in (live, again))
    assert first == second
    assert len(first) > 20
    (name,) = (path.stem for path in state.glob('*.jsonl'))
    unknown = bbllm('show', f'x{name}')
    assert (unknown.exit_code, f"Did you mean '{name}'?" in unknown.stderr) == (2, True)


def test_json_is_one_object_events_are_the_journal_itself_and_pictures_are_drawn_again(
    bbllm: Command, journal: Path
) -> None:
    for suffix in ('.svg', '.png'):
        journal.with_suffix(suffix).unlink()

    data = json.loads(bbllm('show', journal.stem[:-2], '--json').stdout)

    assert data.keys() >= KEYS
    assert (data['ending'], data['episode_id']) == ('FINISHED', journal.stem)
    assert bbllm('show', '--events').stdout == journal.read_text()
    bbllm('show')
    assert 'red_cube' in journal.with_suffix('.svg').read_text()
    assert journal.with_suffix('.png').exists()


def test_a_journal_of_a_bench_is_shown_by_its_path(
    bbllm: Command, journal: Path, tmp_path: Path
) -> None:
    other = tmp_path / 'watch_tv-t000-k0.jsonl'
    other.write_text(journal.read_text())

    assert json.loads(bbllm('show', str(other), '--json').stdout)['journal'] == str(other)
    assert bbllm('show', str(other)).exit_code == 0
    assert other.with_suffix('.png').exists()
    missing = bbllm('show', str(tmp_path / 'no.jsonl'))
    assert missing.exit_code == 2
    assert 'folder episodes' in ' '.join(missing.stderr.split())


def test_an_episode_is_written_as_a_page_and_no_other_file_is_overwritten(
    bbllm: Command, journal: Path, tmp_path: Path
) -> None:
    page = tmp_path / 'new' / 'page.html'

    shown = json.loads(bbllm('show', '--html', str(page), '--json').stdout)

    assert shown == {'page': str(page), 'journal': str(journal)}
    assert '<h4>reply</h4>' in page.read_text()
    before = journal.read_text()
    refused = bbllm('show', '--html', str(journal))
    assert (refused.exit_code, 'does not end in .html' in refused.stderr) == (2, True)
    assert journal.read_text() == before


def test_an_episode_is_saved_as_a_video(bbllm: Command, journal: Path, tmp_path: Path) -> None:
    video = tmp_path / 'episode.gif'

    shown = json.loads(bbllm('show', '--video', str(video), '--speed', '50', '--json').stdout)

    assert shown.keys() == {'video', 'journal', 'duration_s', 'hints'}
    assert (shown['video'], shown['journal']) == (str(video), str(journal))
    assert video.read_bytes()[:6] == b'GIF89a'
    # The world of this test records no motion.
    assert 'shows the plan alone' in shown['hints'][0]
    assert 'shows the plan alone' in bbllm('show', '--video', str(video)).stdout


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('--video', 'x.avi'), 'must end with .gif'),
        (('--speed', '3'), 'add --video FILE'),
    ],
)
def test_a_video_that_cannot_be_made_is_refused(
    bbllm: Command, journal: Path, words: tuple[str, ...], message: str
) -> None:
    refused = bbllm('show', *words)

    assert refused.exit_code == 2
    assert message in ' '.join(refused.stderr.split())


def test_list_names_every_episode_with_its_ending(bbllm: Command, journal: Path) -> None:
    other = journal.with_name('cut.jsonl')
    other.write_text(journal.read_text().splitlines(keepends=True)[0])
    journal.with_name('notes.jsonl').write_text('{"kind": "shopping"}\n{}\n')

    rows = json.loads(bbllm('show', '--list', '--json').stdout)['episodes']

    assert {row['episode_id']: row['ending'] for row in rows}[journal.stem] == 'FINISHED'
    assert {'INTERRUPTED', 'UNREADABLE'} <= {row['ending'] for row in rows}
    assert 'move some cubes' in bbllm('show', '--list').stdout


def test_a_journal_that_broke_off_is_shown_as_far_as_it_goes(
    bbllm: Command, journal: Path
) -> None:
    lines = journal.read_text().splitlines(keepends=True)
    cut = journal.with_name('cut.jsonl')
    cut.write_text(''.join(lines[:12]) + lines[12][:20])

    result = bbllm('show', 'cut')

    assert result.exit_code == 0
    assert 'pick(red_cube)' in result.stdout
    assert 'breaks off' in result.stdout
    assert json.loads(bbllm('show', 'cut', '--json').stdout)['ending'] == 'INTERRUPTED'
    assert 'INTERRUPTED' in cut.with_suffix('.svg').read_text()


LINES = [line_of(Event(100.0 + i, data)).rstrip() for i, data in enumerate(EXAMPLES.values())]
VALUES = [
    *(None, True, -1, 0, 10**400, 1e308, float('nan'), float('inf')),
    *('', 'x', '\ud800', '9' * 5000, [], {}, [[]], {'a': 1}),
]


def write(folder: Path, *lines: str) -> Path:
    path = folder / 'e1.jsonl'
    path.write_text('\n'.join(lines) + '\n')
    return path


def shown(path: Path) -> str:
    """Return what `bbllm show` prints of a journal line by line."""
    file = io.StringIO()
    view = LineView(file)
    episode, _ = read_damaged(path)
    for event in episode.events:
        view(event)
    json.dumps(summarize(episode))
    progress_of(episode)
    return file.getvalue()


def test_a_whole_journal_has_no_faults_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path, *LINES)

    episode, faults = read_damaged(path)

    assert faults == ()
    assert episode == read_episode(path)
    assert [event.data for event in episode.events] == list(EXAMPLES.values())
    assert [*map(type, EXAMPLES.values())] == [kind.record for kind in EXAMPLES]
    assert {*EXAMPLES} == {*EventKind}


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('{"kind": "step", "stamp_s": 1, "data": {"index": "one"}}', 'index is .one.: .* int'),
        ('{"kind": "outcome", "stamp_s": 1.0, "data": {"call": 1}}', 'Outcome.call is 1: '),
        ('{"kind": "scene", "stamp_s": 1.0, "data": {"moment": "before"}}', 'SceneRec.*scene'),
        ('{"kind": "warning", "stamp_s": "now", "data": {"text": "x"}}', 'is .now.: .*number'),
        ('{"kind": "warning", "stamp_s": NaN, "data": {"text": "x"}}', 'expected value'),
        ('{"kind": "teleported", "stamp_s": 1.0, "data": {}}', 'teleported.: .*started'),
        ('{"kind": ["step"]}', 'kind is '),
        ('[]', 'JournalLine is '),
        ('[' * 100_000, 'recursion'),
        ('{', 'EOF while'),
    ],
)
def test_a_line_with_wrong_values_is_named_and_the_others_are_shown(
    tmp_path: Path, line: str, message: str
) -> None:
    path = write(tmp_path, LINES[0], line, LINES[-1])

    episode, faults = read_damaged(path)

    assert [event.kind for event in episode.events] == [EventKind.STARTED, EventKind.ENDED]
    (fault,) = faults
    assert fault.startswith('Line 2 cannot be read: ')
    with pytest.raises(ConfigError, match=f'Line 2 .*({message})'):
        read_episode(path)


def test_without_its_first_line_a_journal_is_shown_and_without_any_event_refused(
    tmp_path: Path,
) -> None:
    episode, faults = read_damaged(write(tmp_path, *LINES[1:]))

    assert (episode.id, episode.task.instruction) == ('e1', '(not readable)')
    assert 'the task is not known' in faults[0]
    with pytest.raises(ConfigError, match='is no journal of an episode'):
        read_damaged(write(tmp_path, '{}', '[]'))


def test_show_reports_what_is_wrong_with_a_damaged_journal(
    bbllm: Callable[..., Result], state: Path
) -> None:
    state.mkdir(parents=True)
    write(state, LINES[0], LINES[1], '{"kind": 1}', LINES[-1])

    reported, listed = bbllm('show', 'e1'), bbllm('show', '--list')
    data = json.loads(bbllm('show', 'e1', '--json').stdout)

    assert reported.exit_code == 2, reported.output
    for text in ('ended     FINISHED', 'Line 3 cannot be read: ', 'picture'):
        assert text in reported.stdout
    assert (data['ending'], len(data['faults'])) == ('FINISHED', 1)
    assert 'FINISHED' in listed.stdout


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value within JSON values."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    if path:
        yield path
    for key, item in inner:
        yield from places(item, (*path, key)) if isinstance(item, (dict, list)) else [(*path, key)]


def mutated(line: str, rng: random.Random) -> str:
    """Change one place of a line: cut it, take a value away, or put a wrong one in."""
    if rng.random() < 0.1:
        at = rng.randrange(len(line))
        return line[:at] + rng.choice(['', '\x00', '}', '"', '[']) + line[at + rng.randrange(3) :]
    data = copy.deepcopy(json.loads(line))
    *way, last = rng.choice(list(places(data)))
    holder = data
    for key in way:
        holder = holder[key]
    if rng.random() < 0.3:
        del holder[last]
    else:
        holder[last] = rng.choice(VALUES)
    return json.dumps(data)


@examples(600)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_no_mutation_of_a_journal_raises_anything_but_the_documented_error(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random, n: int
) -> None:
    lines = list(LINES)
    for at in rng.sample(range(len(lines)), n):
        lines[at] = mutated(lines[at], rng)
    if rng.random() < 0.2:
        rng.shuffle(lines)
    path = write(tmp_path_factory.getbasetemp(), *lines)

    shown(path)
    with suppress(ConfigError):
        read_episode(path)
