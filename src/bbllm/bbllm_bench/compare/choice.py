"""Which planners a comparison is of: those that were named, or all that can play."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.registry import PlannerSpec, load_planner, load_planners
from bbllm.llm.recording.replay import COMPRESSED
from bbllm.planners.assembly import check_domain
from bbllm_bench.compare.figures import LeftOutPlanner
from bbllm_bench.runner.play_here import domain_of
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import Prepared, prepare
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import Suite, load_suite

ALL = 'all'
_PLAIN = re.compile(r'[\w.]+(:[\w.]+=[\w.]+(,[\w.]+=[\w.]+)*)?')
LEXICAL = 'lexical'
"""Embeds where the Brain is a stand-in too, so that no key is needed."""
HOW = (
    'Use --planners all, or name some with commas between them, as in '
    '--planners brain_body,prog_prompt:check=graph,grounding=nearest.'
)


@dataclass(frozen=True, slots=True)
class Contender:
    """One planner that plays."""

    planner: str
    """Its name, with options or without."""
    prepared: Prepared

    @property
    def folder(self) -> str:
        return folder_name(self.planner)


@dataclass(frozen=True, slots=True)
class Choice:
    """Who plays, in the order of the table, and who does not."""

    suite: Suite
    contenders: tuple[Contender, ...]
    left_out: tuple[LeftOutPlanner, ...]

    @property
    def notices(self) -> tuple[str, ...]:
        reported = [text for item in self.contenders for text in item.prepared.notices]
        if len(self.contenders) == 1:
            alone = self.contenders[0].planner
            reported.append(f'Of all planners {alone} alone can play {self.suite.name} here.')
        return tuple(dict.fromkeys(reported))


def choose(request: BenchRequest, stated: str, folder: Path) -> Choice:
    """
    Prepare a run for each planner that plays; nothing is written.

    Who is named has to be able to play. Of `all`, those that are not for the suite's world, whose
    prompts the models cannot answer, or that cannot be imported, are left out.
    `record` of the request is a folder with a file for each planner, `replay` such a folder or a
    file for all.

    Raises:
        ConfigError: A planner that was named cannot play, one alone was named, or of `all` none
            can play. Where of `all` one can, it plays, with a notice that it is alone.
        UnknownNameError: There is no such planner, or no such option of it.
    """
    suite = load_suite(request.suite, data=request.data)
    named = read_planners(stated)
    if ALL not in named and len(named) < 2:
        raise ConfigError(f'--planners {stated!r} leaves nothing to compare. {HOW}')
    contenders, left_out = list[Contender](), list[LeftOutPlanner]()
    # The same for all; to search a puzzle takes up to half a minute.
    make = cache(partial(_case, suite, request.seed))
    for planner, must in _expanded(named):
        try:
            spec = load_planner(planner)
            check_domain(planner, spec, domain_of(suite))
            own = _own(request, planner, spec)
            prepared = prepare(recordings_of(own, planner), folder / folder_name(planner))
            plan = replace(prepared.plan, make_case=make)
            contenders.append(Contender(planner, replace(prepared, plan=plan)))
        except ConfigError as error:
            if must:
                raise
            left_out.append(LeftOutPlanner(planner=planner, reason=str(error)))
    if not contenders:
        raise ConfigError(_why_nobody(suite, left_out))
    return Choice(suite, tuple(contenders), tuple(left_out))


def read_planners(text: str) -> tuple[str, ...]:
    """
    Read names of planners with commas between them, and within their options.

    A piece such as `grounding=nearest` goes on with the options of the planner before it.

    Raises:
        ConfigError: There is none, or one is there twice.
    """
    found: list[str] = []
    for piece in (''.join(part.split()) for part in text.split(',')):
        head, equals, _ = piece.partition('=')
        if found and ':' in found[-1] and equals and ':' not in head:
            found[-1] += f',{piece}'
        elif piece:
            found.append(piece)
    if not found:
        raise ConfigError(f'--planners {text!r} names no planner. {HOW}')
    for name in found:
        if found.count(name) > 1:
            raise ConfigError(f'--planners names {name} twice; name it once. {HOW}')
    return tuple(found)


def folder_name(planner: str) -> str:
    """
    Return the name of the folder for a planner: `prog_prompt-check-graph`.

    What is written otherwise, as `window=-1` is, gets a hash at the end: no two share a folder.
    """
    name = re.sub(r'[^\w.]+', '-', planner)
    if _PLAIN.fullmatch(planner):
        return name
    return f'{name}-{hashlib.sha256(planner.encode()).hexdigest()[:8]}'


def recordings_of(request: BenchRequest, planner: str) -> BenchRequest:
    """Return the request with the files of one planner, where folders are named for all."""
    name, record, replay = f'{folder_name(planner)}.jsonl', request.record, request.replay
    if replay is not None and replay.is_dir():
        packed = replay / f'{name}{COMPRESSED}'
        replay = packed if packed.exists() else replay / name
    own = {'record': record / name if record else None, 'replay': replay}
    return request.model_copy(update=own)


def _expanded(named: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield planners, and whether each must be able to play; `all` stands for the other ones."""
    for name in named:
        if name != ALL:
            yield name, True
            continue
        installed, faults = load_planners()
        for other in sorted({*installed, *faults} - {*named}):
            yield other, False


def _own(request: BenchRequest, planner: str, make: PlannerSpec) -> BenchRequest:
    # That some play at K = 0 is in the table; it needs no notice for each.
    ks = request.ks if make.uses_feedback else (0,)
    return request.model_copy(update={'planner': planner, 'ks': ks})


def _case(suite: Suite, seed: int, task: str, trial: int) -> Case:
    return make_case(suite, task, seed=seed, trial=trial)


def _why_nobody(suite: Suite, left_out: Sequence[LeftOutPlanner]) -> str:
    """Return why no planner can play, by those for the suite's world if there are any."""
    installed, _ = load_planners()
    domain = domain_of(suite)
    able = {name for name, make in installed.items() if domain in make.domains}
    reasons: dict[str, str] = {}
    for item in left_out:
        if item.planner in able or not able:
            # The same for each planner is told of the first one.
            why = item.reason.removeprefix(f'The planner {item.planner} ')
            reasons.setdefault(why, item.reason)
    return f'No planner can play {suite.name}. {" ".join(reasons.values())}'
