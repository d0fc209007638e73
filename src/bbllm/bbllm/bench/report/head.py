"""Who made the run: names, plain notices about stand-ins, the command that makes it again."""

import shlex
import time
from collections.abc import Mapping, Sequence

from bbllm.bench.log.run_settings import RunSettings
from bbllm.bench.log.store import SavedRun, Session
from bbllm.bench.oracle.notices import notices_about, roles_of, stand_ins
from bbllm.bench.report import words
from bbllm.bench.report.summary import RunSummary
from bbllm.bench.suites.suite import list_suites, load_suite
from bbllm.core.errors import BbllmError
from bbllm.core.events import Limits
from bbllm.core.registry import provider_names

BUILT_IN = ('lexical', *provider_names())
"""Providers that have no models to choose from."""


def head_of(run: SavedRun, served: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what made the run, by name; *served*: how models call themselves, by role."""
    made = run.settings
    commit = made.versions.get('commit', '')
    version = made.versions.get('bbllm', words.NONE)
    entries = {
        'Planner': made.planner,
        'Brain': _model(made.brain, served.get('brain', ())),
        'Body': _model(made.body, served.get('body', ())),
        'Mapping': made.mapping,
        'World': made.world,
        'K': words.listed(made.ks),
        'Trials': str(made.trials),
        'Seed': str(made.seed),
        'Date': date_of(run.sessions),
        'bbllm': f'{version} ({commit[:12]})' if commit else version,
        'MuJoCo': made.versions.get('mujoco'),
        'Python': made.versions.get('python'),
    }
    return {name: value for name, value in entries.items() if value}


def notices_of(settings: RunSettings, summary: RunSummary) -> tuple[str, ...]:
    """Return the sentences that come first: stand-ins, and what is missing."""
    notices = notices_about(stand_ins(), settings, summary.models)
    if settings.replay and not roles_of('replay', settings, summary.models):
        notices.append(f'The replies were read back from the recording {settings.replay}.')
    planned, played = summary.planned, summary.played
    if played < planned:
        notices.append(
            f'The run is not through: {words.count(played)} of {words.plural(planned, "episode")} '
            'were played. The figures are of these.'
        )
    return (*notices, *summary.earlier)


def date_of(sessions: Sequence[Session]) -> str:
    """Return when the run was made, in UTC; '' where no session is on record."""
    if not sessions:
        return ''
    starts = [session.started_s for session in sessions]
    start, ends = min(starts), [s.ended_s for s in sessions if s.ended_s is not None]
    end = max(ends or starts)
    first, last = (time.strftime('%Y-%m-%d', time.gmtime(moment)) for moment in (start, end))
    if first == last:
        return time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(start))
    return f'{first} to {last}'


def command_of(settings: RunSettings) -> str:
    """Return the command that makes such a run again."""
    usual, limits = Limits(), settings.limits
    matched = settings.mapping == 'embedding'
    # A recording names its own models.
    asks = not settings.replay
    options = {
        '--planner': settings.planner,
        '--brain': (_model_option(settings, 'brain') or settings.brain) if asks else None,
        '--body': _model_option(settings, 'embeddings' if matched else 'body') if asks else None,
        '--mapping': settings.mapping,
        '--world': settings.world,
        '--k': ','.join(map(str, settings.ks)),
        '--trials': settings.trials,
        '--seed': settings.seed,
        '--tasks': _tasks_option(settings),
        '--limit-steps': limits.steps if limits.steps != usual.steps else None,
        '--limit-model-calls': (
            limits.model_calls if limits.model_calls != usual.model_calls else None
        ),
        '--limit-tokens': limits.tokens if limits.tokens != usual.tokens else None,
        '--timeout': limits.wall_s if limits.wall_s != usual.wall_s else None,
        '--replay': settings.replay,
    }
    given = [(name, str(value)) for name, value in options.items() if value not in (None, '')]
    command = ['bbllm', 'bench', settings.suite, *(part for pair in given for part in pair)]
    return shlex.join([*command, '--out', 'DIR'])


def _model_option(settings: RunSettings, role: str) -> str | None:
    section = settings.llm.get(role, {})
    provider = section.get('provider')
    return provider if provider in BUILT_IN else section.get('model')


def _tasks_option(settings: RunSettings) -> str:
    """Return the tasks that were chosen, '' where it was the whole suite as it is now."""
    chosen = [task.name for task in settings.tasks]
    try:
        # By its name only: a path out of a settings file is not opened.
        known = settings.suite in list_suites()
        whole = load_suite(settings.suite).tasks if known else ()
    except BbllmError:
        whole = ()  # no suites on this machine: then the names are better than nothing
    return '' if chosen == [task.name for task in whole] else ','.join(chosen)


def flat(settings: Mapping[str, object], place: str = '') -> dict[str, str]:
    """Return all settings in full, nested ones by their path."""
    entries: dict[str, str] = {}
    for key, value in settings.items():
        name = f'{place}.{key}' if place else str(key)
        if isinstance(value, Mapping) and value:
            entries |= flat(value, name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            if all(isinstance(item, (str, int, float)) for item in value):
                entries[name] = words.listed(value)
            else:
                for index, item in enumerate(value):
                    inner = item if isinstance(item, Mapping) else {'': item}
                    entries |= flat(inner, f'{name}[{index}]')
        else:
            empty = value is None or value == '' or value in ({}, [])
            entries[name] = words.NONE if empty else str(value)
    return entries


def _model(name: str, served: Sequence[str]) -> str:
    """Return a model's name, with what its server calls itself where that differs."""
    others = [other for other in served if other not in name.split()]
    return f'{name} ({words.listed(others)})' if others else name
