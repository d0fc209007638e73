"""Notices in reports: on names that are no language model, and on replies to other prompts."""

from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.events import Episode
from bbllm.core.registry import find_provider, load_planner, needs_goal, plain_name, provider_names
from bbllm.core.text import count_of
from bbllm_bench.log.results import CHANGED_PROMPTS, EpisodeResult
from bbllm_bench.log.run_settings import RunSettings

NOT_MODELS: Mapping[str, str] = {
    'lexical': 'compares words, not meanings: a deterministic stand-in, not an embedding model',
    'scripted': 'gives replies that were written beforehand; it is not a language model',
    'replay': 'reads replies back from a recording; no model was asked',
}


def stand_ins() -> Mapping[str, str]:
    """Return the names that are no language model, each with what follows it in a sentence."""
    found = {name: find_provider(name) for name in provider_names()}
    return {**{name: item.remark for name, item in found.items() if item}, **NOT_MODELS}


def handed_the_goal() -> tuple[str, ...]:
    """Return the names of models that are handed the goal of a case."""
    return tuple(filter(needs_goal, provider_names()))


def roles_of(
    name: str, settings: RunSettings | Episode, served: Mapping[str, Sequence[str]]
) -> list[str]:
    """
    Return the roles that something of that name, or family of names, plays in a run or episode.

    `served` has the names that servers gave themselves. A Body that is never asked plays no role.
    """
    asked = {'brain': settings.brain, 'body': settings.body}
    found = []
    if 'body' not in served and not _asks_body(settings.planner):
        del asked['body']
    for role in dict.fromkeys((*asked, *served)):
        names = [asked.get(role), *served.get(role, ())]
        if any(_is(candidate, name) for candidate in names if candidate):
            found.append(role.capitalize())
    return found


def notices_about(
    names: Iterable[str],
    settings: RunSettings | Episode,
    served: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return a sentence for each of some stand-ins that a run or an episode was made with."""
    remarks = stand_ins()
    return [
        f'{" and ".join(roles)}: {name} {remarks[name]}.'
        for name in names
        if (roles := roles_of(name, settings, served))
    ]


def notices_of_changes(results: Iterable[EpisodeResult]) -> list[str]:
    """Return a sentence where a recording answered prompts that have changed since."""
    found = [(result.model_calls, result.changed_prompts) for result in results]
    changes = [change for _, changed in found for change in changed]
    if not changes:
        return []
    asked = count_of(sum(n for n, _ in found), 'prompt')
    return [
        f'{CHANGED_PROMPTS.capitalize()}: {len(changes)} of {asked} differ from what was replied '
        f'to, so that no figure is one of the model. The first difference: {changes[0]}'
    ]


def _asks_body(planner: str) -> bool:
    try:
        return load_planner(plain_name(planner)).asks_body
    except (ConfigError, UnknownNameError):
        return True  # made elsewhere, or it is no longer whole: rather one notice too many


def _is(candidate: str, name: str) -> bool:
    return name in candidate.lower().replace(':', ' ').replace('/', ' ').split()
