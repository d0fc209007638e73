"""Who made the run: names, plain notices about stand-ins, the command that makes it again."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class HeadEntry:
    """A name and what it stands for."""

    name: str
    value: str


def head_of(run: SavedRun, served: Mapping[str, Sequence[str]]) -> tuple[HeadEntry, ...]:
    """
    Return what made the run, in the order of the page.

    Args:
        run: The run.
        served: Names that the servers gave themselves, by role.
    """
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
    return tuple(HeadEntry(name, value) for name, value in entries.items() if value)


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
    starts = [session.started_s for session in sessions]
    ends = [session.ended_s for session in sessions if session.ended_s is not None]
    if not starts:
        return ''
    days = [time.strftime('%Y-%m-%d', time.gmtime(s)) for s in (min(starts), max(ends or starts))]
    first = time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(min(starts)))
    return first if days[0] == days[1] else f'{days[0]} to {days[1]}'


def command_of(settings: RunSettings) -> str:
    """Return the command that makes such a run again."""
    options = {
        '--planner': settings.planner,
        **_model_options(settings),
        '--mapping': settings.mapping,
        '--world': settings.world,
        '--k': ','.join(map(str, settings.ks)),
        '--trials': settings.trials,
        '--seed': settings.seed,
        '--tasks': _tasks_option(settings),
        **_limit_options(settings.limits),
        '--replay': settings.replay,
    }
    said = [
        part
        for name, value in options.items()
        if value not in (None, '')
        for part in (name, value)
    ]
    return shlex.join(['bbllm', 'bench', settings.suite, *map(str, said), '--out', 'DIR'])


def _model_options(settings: RunSettings) -> dict[str, str | None]:
    """Return the options that name the models; a recording names its own."""
    if settings.replay:
        return {}
    matched = settings.mapping == 'embedding'
    return {
        '--brain': _model_option(settings, 'brain') or settings.brain,
        '--body': _model_option(settings, 'embeddings' if matched else 'body'),
    }


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


def _limit_options(limits: Limits) -> dict[str, float | None]:
    usual = Limits()
    options = {
        '--limit-steps': (limits.steps, usual.steps),
        '--limit-model-calls': (limits.model_calls, usual.model_calls),
        '--limit-tokens': (limits.tokens, usual.tokens),
        '--timeout': (limits.wall_s, usual.wall_s),
    }
    return {option: limit for option, (limit, default) in options.items() if limit != default}


def flat(settings: Mapping[str, object], place: str = '') -> list[HeadEntry]:
    """Return all settings in full, nested ones by their path."""
    entries: list[HeadEntry] = []
    for key, value in settings.items():
        name = f'{place}.{key}' if place else str(key)
        if isinstance(value, Mapping) and value:
            entries += flat(value, name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            if all(isinstance(item, (str, int, float)) for item in value):
                entries.append(HeadEntry(name, words.listed(value)))
            else:
                for index, item in enumerate(value):
                    inner = item if isinstance(item, Mapping) else {'': item}
                    entries += flat(inner, f'{name}[{index}]')
        else:
            empty = value is None or value == '' or value in ({}, [])
            entries.append(HeadEntry(name, words.NONE if empty else str(value)))
    return entries


def _model(name: str, served: Sequence[str]) -> str:
    """Return a model's name, with what its server calls itself where that differs."""
    others = [other for other in served if other not in name.split()]
    return f'{name} ({words.listed(others)})' if others else name
