"""Who made the run: names, plain notices about stand-ins, all settings."""

import time
from collections.abc import Mapping, Sequence

from bbllm.bench.log.run_settings import RunSettings, flat, show
from bbllm.bench.log.store import SavedRun, Session
from bbllm.bench.oracle.notices import notices_about, roles_of, stand_ins
from bbllm.bench.report import words
from bbllm.bench.report.summary import RunSummary


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


def settings_of(settings: RunSettings) -> dict[str, str]:
    """Return all settings but the tasks, which the page lists, by their path."""
    return {
        name: show(value)
        for name, value in flat(settings.model_dump(mode='json', exclude={'tasks'}))
    }


def _model(name: str, served: Sequence[str]) -> str:
    """Return a model's name, with what its server calls itself where that differs."""
    others = [other for other in served if other not in name.split()]
    return f'{name} ({words.listed(others)})' if others else name
