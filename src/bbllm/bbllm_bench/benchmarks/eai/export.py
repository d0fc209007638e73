"""`bbllm bench eai-export`: answers to the prompts of the benchmark, in the challenge's form."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption, LlmConfigOption
from bbllm.cli.support.supervision import POLL_S, interrupts
from bbllm.cli.support.verb_group import INTERRUPTED
from bbllm.cli.views.output import Output
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import (
    ConfigError,
    ModelError,
    ModelUnavailableError,
    ReplayError,
    UnknownNameError,
)
from bbllm.core.journal import read_episode
from bbllm.core.naming import class_of, id_of
from bbllm.core.protocols import ChatModel, ModelRequest, Reply
from bbllm.core.provenance import code_version
from bbllm.core.registry import fallback_name
from bbllm.core.types import Outcome
from bbllm.llm.recording.replay import (
    Exchange,
    RecordingModel,
    ReplayModel,
    line_of,
    read_recording,
)
from bbllm.planners.common.methods import MappingMethod
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm_bench.benchmarks.eai.answers import (
    COMMAND,
    EXPORT,
    TALK,
    Answered,
    Export,
    read_export,
    write_answers,
)
from bbllm_bench.benchmarks.eai.modules import (
    Case,
    Module,
    annotated,
    hash_of,
    read_cases,
    text_of_script,
)
from bbllm_bench.benchmarks.eai.package import Installed, find_installed
from bbllm_bench.benchmarks.shared import TrialBar
from bbllm_bench.commands.options import MAX_JOBS
from bbllm_bench.log.files import LOCK, claim_folder, locked, write_atomically
from bbllm_bench.log.store import read_run
from bbllm_bench.runner.answering import asking
from bbllm_bench.runner.runner import NOTHING_USABLE

STAND_INS = {
    'expert': 'the annotations of the benchmark; a first step twice in action_sequencing',
    'empty': 'an empty text for every case; no model was asked',
}
SUITE = 'eai'
MUST_AGREE = ('model', 'answered_by', 'llm', 'sample', 'seed')
"""What all modules of a folder have in common."""
ROLE = 'brain'
Answer = Callable[[Case, CancelToken], Reply]


def eai_export(
    out: Annotated[
        Path,
        typer.Option(metavar='DIR', help='Folder of the answers; one of this command is gone on.'),
    ],
    module: Annotated[
        str,
        typer.Option(
            metavar='LIST', help=f'Modules with commas between them: {", ".join(Module)}.'
        ),
    ] = 'all',
    brain: Annotated[
        str | None,
        typer.Option(
            metavar='NAME',
            help='Model that is asked; or expert, the annotations of the benchmark; or empty, an '
            'empty text for every case.',
        ),
    ] = None,
    llm_config: LlmConfigOption = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar='FILE', help='Answer from the talk.jsonl of such a folder instead.'),
    ] = None,
    plans: Annotated[
        Path | None,
        typer.Option(
            metavar='RUN',
            help='Answer action_sequencing with the actions that a planner carried out in this '
            'folder of `bbllm bench eai`.',
        ),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option(
            min=1, help='How many cases of each module, drawn by --seed; all by default.'
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help='Draws the cases.')] = 0,
    jobs: Annotated[
        int, typer.Option('--jobs', '-j', min=1, max=MAX_JOBS, help='Requests at once.')
    ] = 1,
    json: JsonOption = False,
) -> None:
    """
    Answer the prompts of the Embodied Agent Interface, four modules in VirtualHome.

    Needs `make eai`. Prompts are sent as they are, without a planner. The folder gets
    virtualhome/MODULE/MODEL_outputs.json, which `bbllm bench eai-score` and the
    benchmark's own program score, and the conversation, talk.jsonl. What is answered
    there is not asked again.

    Exit code: 0 when all cases were answered; 2 for input that cannot be used; 130
    after Ctrl-C.

    Examples:
      bbllm bench eai-export --brain MODEL --out answers --jobs 8
      bbllm bench eai-export --brain MODEL --out sample --cases 20 --seed 3701
      bbllm bench eai-export --brain expert --module goal_interpretation --out ceiling
      bbllm bench eai-export --module action_sequencing --plans RUN --out plans
    """
    output = Output(json)
    package = find_installed()
    modules = read_modules(module) if plans is None else (Module.ACTION,)
    if plans is not None and module not in ('all', Module.ACTION):
        raise ConfigError(f'--plans answers {Module.ACTION}, and no {module}.')
    if (plans is not None) + (replay is not None) + (brain is not None) > 1:
        raise ConfigError('--brain, --replay and --plans exclude each other: one of them answers.')
    claim_folder(out, EXPORT, COMMAND)
    with locked(out / LOCK), interrupts() as counter:
        talk = out / TALK
        if plans is not None:
            answerer = _by_planner(plans)
        elif brain in STAND_INS:
            answerer = _by_stand_in(brain, package)
        elif replay is not None:
            answerer = _by_recording(replay, talk)
        else:
            answerer = _by_model(brain, llm_config, talk)
        export = _begin(out, answerer, cases, seed)
        output.print(f'Answers by {export.answered_by}.', style='yellow')
        asked: dict[Module, Sequence[Case]] = {}
        answers: dict[Module, Answer] = {}
        for each in modules:
            if (before := export.modules.get(each)) is not None and before.done:
                output.print(f'{each}: {len(before.cases)} answered already.')
                continue
            answers[each] = answerer.of(each)
            asked[each] = _drawn(answerer.cases(read_cases(each, package)), cases, seed)
            export = export.with_module(each, _state(asked[each]))
        export.write(out)
        try:
            found = _answer_all(asked, answers, jobs, lambda: counter.count > 0)
        except ModelUnavailableError as error:
            raise ModelUnavailableError(
                f'{error} Once the model answers, the same command with --out {out} goes on from '
                'here.'
            ) from error
        for each, of_module in asked.items():
            replies = {x.identifier: found[x.name] for x in of_module if x.name in found}
            if len(replies) == len(of_module):
                texts = {case: reply.text for case, (reply, _) in replies.items()}
                write_answers(out, each, export.model, texts)
                export = export.with_module(each, _state(of_module, replies))
                export.write(out)
                output.print(f'{each}: {len(texts)} answered.')
        if counter.count:
            output.print(f'The same command with --out {out} goes on from here.')
            raise typer.Exit(INTERRUPTED)
    output.print_path('answers', out)
    output.result({**export.model_dump(mode='json'), 'folder': str(out)})


def read_modules(text: str) -> tuple[Module, ...]:
    """Read a list of modules, or `all`; raises UnknownNameError."""
    names = [*Module] if text == 'all' else [part.strip() for part in text.split(',')]
    for name in names:
        if name not in [*Module]:
            raise UnknownNameError('module', name, ['all', *map(str, Module)])
    return tuple(module for module in Module if module in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answerer:
    """Who answers."""

    model: str
    answered_by: str
    of: Callable[[Module], Answer]
    """Returns what answers the cases of a module; raises ConfigError where it answers none."""
    cases: Callable[[Sequence[Case]], Sequence[Case]] = tuple
    """Returns the cases that it can answer."""
    llm: Mapping[str, object] = field(default_factory=dict)


def _by_stand_in(name: str, package: Installed) -> _Answerer:
    def of(module: Module) -> Answer:
        write = annotated(module, package) if name == 'expert' else lambda case: ''
        return lambda case, _: Reply(text=write(case), model=name)

    return _Answerer(model=name, answered_by=STAND_INS[name], of=of)


def _by_planner(run: Path) -> _Answerer:
    """Return the actions that a planner carried out in a run of the suite of the same tasks."""
    saved = read_run(run)
    settings = saved.settings
    if settings.suite != SUITE or settings.trials != 1 or len(settings.ks) != 1:
        raise ConfigError(
            f'{run} is a run of {settings.suite} with {settings.trials} trials and K = '
            f'{", ".join(map(str, settings.ks))}. One of `bbllm bench {SUITE} --trials 1 -k 0` '
            'would do: the benchmark takes one plan for each case.'
        )
    labels = {task.name: task.label for task in settings.tasks}
    texts = {
        labels[result.key.task]: text_of_script(_script_of(journal))
        for result in saved.results
        if (journal := saved.journal(result.key)) is not None
    }
    who = f'{settings.planner}, Brain {settings.brain}, K = {settings.ks[0]}, suite {SUITE}'
    return _Answerer(
        model=_file_name(settings.planner),
        answered_by=f'{who}: the actions that were carried out',
        of=lambda _: lambda case, cancel: Reply(text=texts[case.program], model=settings.planner),
        cases=lambda cases: [case for case in cases if case.program in texts],
    )


def _script_of(journal: Path) -> list[ScriptLine]:
    events = read_episode(journal).events
    outcomes = [event.data for event in events if isinstance(event.data, Outcome)]
    return [
        ScriptLine(
            Action[each.call.skill.upper()],
            tuple((class_of(x), i) for x in each.call.args if (i := id_of(x)) is not None),
        )
        for each in outcomes
        if each.succeeded
    ]


def _by_recording(path: Path, talk: Path) -> _Answerer:
    recorded = _exchanges(path)
    first = next(iter(recorded.values()), [])
    if not first:
        raise ReplayError(f'{path} has no answers; {COMMAND} makes such a file.')
    name = first[0].name.removeprefix('replay of ')

    def inner(case: Case) -> ChatModel:
        return ReplayModel(path, ROLE, text=_lines(recorded.get(case.name, [])))

    return _Answerer(
        model=_file_name(name), answered_by=f'replies of {name} in {path}', of=_asking(inner, talk)
    )


def _by_model(brain: str | None, config: Path | None, talk: Path) -> _Answerer:
    models = asking((), MappingMethod.TEXT, config, brain=brain, body=fallback_name())
    llm = models.described['brain']
    if llm['provider'] != 'openai':
        raise ConfigError(
            f'{models.models.brain.name} answers no prompts of this benchmark. --brain '
            f'{", --brain ".join(STAND_INS)}, or the name of a language model would do.'
        )
    model = models.models.brain
    return _Answerer(
        model=_file_name(model.name),
        answered_by=f'{model.name} at {llm["host"]}',
        of=_asking(lambda _: model, talk),
        llm=llm,
    )


def _asking(inner: Callable[[Case], ChatModel], talk: Path) -> Callable[[Module], Answer]:
    """Return what asks a model, and keeps every exchange; what is on record is not asked."""
    earlier = _exchanges(talk) if talk.exists() else {}
    write_atomically(talk, ''.join(map(_lines, earlier.values())))

    def answer(case: Case, cancel: CancelToken) -> Reply:
        before = _lines(earlier.get(case.name, []))
        model = RecordingModel(inner(case), talk, ROLE, episode=case.name, earlier=before)
        return model.ask(ModelRequest(case.messages, cancel=cancel))

    return lambda module: answer


def _exchanges(path: Path) -> dict[str, list[Exchange]]:
    """Return what a recording has by case, but for requests that no model answered."""
    found: dict[str, list[Exchange]] = {}
    for exchange in read_recording(path):
        if exchange.reply is not None or exchange.error in NOTHING_USABLE:
            found.setdefault(exchange.episode, []).append(exchange)
    return found


def _lines(exchanges: Sequence[Exchange]) -> str:
    return ''.join(map(line_of, exchanges))


def _file_name(model: str) -> str:
    return re.sub(r'[^\w.-]+', '_', model)


def _begin(out: Path, answerer: _Answerer, cases: int | None, seed: int) -> Export:
    """Return what a folder has so far; raises ConfigError where that is another export."""
    new = Export(
        model=answerer.model,
        answered_by=answerer.answered_by,
        sample=cases,
        seed=seed,
        code=code_version(),
        llm=answerer.llm,
    )
    if not (out / EXPORT).exists():
        new.write(out)
        return new
    before = read_export(out)
    for name in MUST_AGREE:
        was, now = getattr(before, name), getattr(new, name)
        if was != now:
            raise ConfigError(
                f'{out} has answers with {name} = {was}, and now it is {now}. Another --out '
                'would do.'
            )
    return before


def _drawn(cases: Sequence[Case], sample: int | None, seed: int) -> Sequence[Case]:
    """Return a random sample, in the order of the benchmark."""
    if sample is None or sample >= len(cases):
        return cases
    chosen = random.Random(seed).sample(range(len(cases)), sample)
    return [cases[i] for i in sorted(chosen)]


Found = Mapping[str, tuple[Reply, str]]
"""Replies by case, and the error where there is none."""


def _answer_all(
    asked: Mapping[Module, Sequence[Case]],
    answers: Mapping[Module, Answer],
    jobs: int,
    wants_end: Callable[[], bool],
) -> Found:
    """Return the replies by the names of the cases; fewer where it was ended."""
    cases, token = [case for part in asked.values() for case in part], CancelToken()

    def one(case: Case) -> tuple[Reply, str]:
        try:
            return answers[case.module](case, token), ''
        except ModelError as error:
            if type(error).__name__ not in NOTHING_USABLE:
                raise
            return Reply(text='', model=''), type(error).__name__

    found: dict[str, tuple[Reply, str]] = {}
    with TrialBar(len(cases), every=20) as bar, ThreadPoolExecutor(jobs) as pool:
        names = {pool.submit(one, case): case.name for case in cases}
        left = set(names)
        try:
            while left and not wants_end():
                ended, left = wait(left, POLL_S, FIRST_COMPLETED)
                for future in ended:
                    name = names[future]
                    found[name] = future.result()
                    bar.advance(f'{len(found)}/{len(cases)} {name} {found[name][1]}'.rstrip())
        finally:
            token.cancel('The export was ended.')
            pool.shutdown(wait=False, cancel_futures=True)
    return found


def _state(cases: Sequence[Case], found: Found | None = None) -> Answered:
    """Return what `export.json` has of a module, without replies where it is half-finished."""
    replies = [] if found is None else [reply for reply, _ in found.values()]
    return Answered(
        cases=tuple(case.identifier for case in cases),
        prompts_sha256=hash_of(cases),
        done=found is not None,
        without_answer={case: error for case, (_, error) in (found or {}).items() if error},
        servers=tuple(sorted({reply.model for reply in replies if reply.model})),
        prompt_tokens=sum(reply.usage.prompt_tokens for reply in replies),
        completion_tokens=sum(reply.usage.completion_tokens for reply in replies),
    )
