"""Who made the run: names, plain notices about stand-ins, the command that makes it again."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bbllm.bench.oracle.notices import notices_about, roles_of, stand_ins
from bbllm.bench.report import words
from bbllm.bench.report.folder import Run
from bbllm.bench.suites.suite import list_suites, load_suite
from bbllm.core.budget import Limits
from bbllm.core.errors import BbllmError
from bbllm.core.model_providers import provider_names

BUILT_IN = ('lexical', *provider_names())
"""Providers that have no models to choose from."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name and what it stands for."""

    name: str
    value: str


def head_of(run: Run) -> tuple[Entry, ...]:
    """Return what made the run, in the order of the page."""
    get = run.settings.get
    versions = get('versions') or {}
    commit = str(versions.get('commit') or '')
    version = str(versions.get('bbllm', words.NONE))
    entries = {
        'Planner': get('planner'),
        'Brain': _model(run, 'brain'),
        'Body': _model(run, 'body'),
        'Mapping': get('mapping'),
        'World': get('world'),
        'K': words.listed(get('ks') or ()),
        'Trials': get('trials'),
        'Seed': get('seed'),
        'Date': date_of(run.sessions),
        'bbllm': f'{version} ({commit[:12]})' if commit else version,
        'MuJoCo': versions.get('mujoco'),
        'Python': versions.get('python'),
    }
    return tuple(
        Entry(name, str(value)) for name, value in entries.items() if value not in (None, '')
    )


def notices_of(run: Run) -> tuple[str, ...]:
    """Return the sentences that nobody must miss: stand-ins, and what is missing."""
    served: Mapping[str, Sequence[str]] = run.summary.models
    notices = notices_about(stand_ins(), run.settings, served)
    recording = run.settings.get('replay')
    if recording and not roles_of('replay', run.settings, served):
        notices.append(f'The replies were read back from the recording {recording}.')
    planned, played = run.summary.planned, run.summary.played
    if played < planned:
        notices.append(
            f'The run is not through: {words.count(played)} of {words.plural(planned, "episode")} '
            'were played. The figures are of these.'
        )
    return (*notices, *run.summary.earlier)


def date_of(sessions: Sequence[Mapping[str, Any]]) -> str:
    """Return when the run was made, in UTC; '' where no session is on record."""
    starts = [session['started_s'] for session in sessions if session.get('started_s')]
    ends = [session['ended_s'] for session in sessions if session.get('ended_s')]
    if not starts:
        return ''
    days = [time.strftime('%Y-%m-%d', time.gmtime(s)) for s in (min(starts), max(ends or starts))]
    first = time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(min(starts)))
    return first if days[0] == days[1] else f'{days[0]} to {days[1]}'


def command_of(settings: Mapping[str, Any]) -> str:
    """Return the command that makes such a run again."""
    get = settings.get
    options = {
        '--planner': get('planner'),
        **_models_said(settings),
        '--mapping': get('mapping'),
        '--world': get('world'),
        '--k': ','.join(map(str, get('ks') or ())),
        '--trials': get('trials'),
        '--seed': get('seed'),
        '--tasks': _tasks_said(settings),
        **_limits_said(get('limits') or {}),
        '--replay': get('replay'),
    }
    said = [
        part
        for name, value in options.items()
        if value not in (None, '')
        for part in (name, value)
    ]
    return shlex.join(['bbllm', 'bench', str(get('suite')), *map(str, said), '--out', 'DIR'])


def _models_said(settings: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the options that name the models; a recording names its own."""
    if settings.get('replay'):
        return {}
    sections = settings.get('llm') or {}
    matched = settings.get('mapping') == 'embedding'
    return {
        '--brain': _model_said(sections.get('brain')) or settings.get('brain'),
        '--body': _model_said(sections.get('embeddings' if matched else 'body')),
    }


def _model_said(section: Mapping[str, Any] | None) -> str | None:
    provider = (section or {}).get('provider')
    return provider if provider in BUILT_IN else (section or {}).get('model')


def _tasks_said(settings: Mapping[str, Any]) -> str:
    """Return the tasks that were chosen, '' where it was the whole suite as it is now."""
    chosen = [task['name'] for task in settings.get('tasks') or ()]
    name = settings.get('suite')
    try:
        # By its name only: a path out of a settings file is nothing to be opened.
        whole = load_suite(name).tasks if name in list_suites() else ()
    except BbllmError:
        whole = ()  # no suites on this machine: then the names say more than nothing
    return '' if chosen == [task.name for task in whole] else ','.join(chosen)


def _limits_said(limits: Mapping[str, Any]) -> dict[str, Any]:
    usual = Limits()
    options = {
        '--limit-steps': ('steps', usual.steps),
        '--limit-model-calls': ('model_calls', usual.model_calls),
        '--limit-tokens': ('tokens', usual.tokens),
        '--timeout': ('wall_s', usual.wall_s),
    }
    return {
        option: limits[name]
        for option, (name, value) in options.items()
        if name in limits and limits[name] != value
    }


def flat(settings: Mapping[str, Any], place: str = '') -> list[Entry]:
    """Return all settings in full, nested ones by their path."""
    entries: list[Entry] = []
    for key, value in settings.items():
        name = f'{place}.{key}' if place else str(key)
        if isinstance(value, Mapping) and value:
            entries += flat(value, name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            if all(isinstance(item, (str, int, float)) for item in value):
                entries.append(Entry(name, words.listed(value)))
            else:
                for index, item in enumerate(value):
                    inner = item if isinstance(item, Mapping) else {'': item}
                    entries += flat(inner, f'{name}[{index}]')
        else:
            empty = value is None or value == '' or value in ({}, [])
            entries.append(Entry(name, words.NONE if empty else str(value)))
    return entries


def _model(run: Run, role: str) -> str | None:
    """Return a model's name, with what its server calls itself where that differs."""
    name = run.settings.get(role)
    served = run.summary.models.get(role) or ()
    others = [other for other in served if other not in str(name).split()]
    if not others:
        return name
    return f'{name} ({words.listed(others)})' if name else words.listed(others)
