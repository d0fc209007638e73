"""From one episode and the table that it left to one line of the results."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from bbllm.core import errors
from bbllm.core.events import (
    Ending,
    Episode,
    EpisodeEnded,
    LineDiscarded,
    RepairBegun,
    StepBegun,
    StepFailed,
    StepPassed,
)
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import Earlier, EpisodeKey, EpisodeResult
from bbllm_bench.metrics.metrics import goal_recall
from bbllm_bench.scorers.information import gathered
from bbllm_bench.scorers.judging import judge
from bbllm_bench.scorers.pictures import unseen_score
from bbllm_bench.scorers.talk import answer_of, answered
from bbllm_bench.suites.case import Case, fingerprint
from bbllm_bench.suites.person import Person
from bbllm_bench.suites.scores import FinalState, Score

NO_CALL = 'NO_CALL'
"""Stands among the error codes for a step that could not be turned into a call."""
LOST = 'lost'
INFRASTRUCTURE = (errors.ModelUnavailableError, errors.ModelRefusedError, errors.ReplayError)
"""Errors that end an episode as MODEL_FAILED without being the model's own doing; so do those
that derive from them, such as that of a prompt longer than the context that the server gives its
model. A reply that no grammar accepts (ParseError), and one that is empty, endless or a refusal
in words (ModelError), are its doing."""
UNSEEN = 'The table could not be observed after the episode.'
BROKEN_OFF = 'INTERRUPTED'
"""Ending of an episode that has none, as `bbllm show` calls it."""


def score(
    job: EpisodeSpec,
    episode: Episode,
    *,
    before: Scene,
    after: Scene | None,
    robot_s: float,
    unsafe: int | None,
    judged: tuple[Score, Score] | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> EpisodeResult:
    """
    Score an episode and count its events.

    It is lost, and not judged, where the world or the server failed, it was stopped, or no
    settled table was seen. A planner that gave up, a model whose replies could not be read and
    a budget that ran out are judged by the table as it stands.

    Args:
        job: What was played.
        episode: What happened.
        before: First scene of its journal.
        after: The table once everything had come to rest; None where the world was lost.
        robot_s: Time that passed in the world, settling included [s].
        unsafe: Commands that left the limits; None where that was not measured.
        judged: Scores of start and end, where there is no table to score.
        names: What the scenes call objects of the case, where that is another name.
    """
    fault, error = fault_of(episode)
    fault = fault or (UNSEEN if after is None else '')
    executable, passes, codes = _tally(episode)
    calls, person = episode.model_calls, job.case.person or Person()
    discarded = [e.data.refused for e in episode.events if isinstance(e.data, LineDiscarded)]
    account = EpisodeResult(
        key=job.key,
        verdict=LOST,
        reason=fault,
        least_loops=job.case.least_loops,
        ending=BROKEN_OFF if episode.ending is None else episode.ending.name,
        message=episode.message,
        unsafe=unsafe,
        robot_s=robot_s,
        wall_s=episode.wall_s,
        settled=after.objects if after is not None and judged is None else (),
        case_hash=fingerprint(job.case),
        loops=episode.feedback_loops,
        informed=_informed_of_lost(job.case),
        ask=person.ask,
        asked=person.asked(episode.events),
        executable=executable,
        attempted=executable + codes.total(),
        passes=passes,
        codes=dict(sorted(codes.items())),
        error=error,
        model_calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        model_s=sum(call.duration_s for call in calls),
        models={
            role: ', '.join(sorted({call.model for call in calls if call.role == role}))
            for role in sorted({call.role for call in calls})
        },
        prompt_chars=sum(call.prompt_chars for call in calls),
        stable_chars=sum(call.stable_chars for call in calls),
        sent_tokens=sum(call.size_tokens for call in calls),
        discarded=len(discarded),
        malformed=discarded.count(False),
        refused=discarded.count(True),
    )
    if fault or after is None:
        return account
    start, end = judged or (
        score_table(job.case, before, before, names=names),
        score_table(
            job.case, before, after, moves_of(_outcomes(episode)), names, answer_of(episode)
        ),
    )
    conditions = _conditions(end)
    known = gathered(job.case, episode)
    return replace(
        account,
        verdict=end.verdict.value,
        reason=end.reason,
        conditions=conditions,
        gcr=goal_recall(_conditions(start), conditions),
        informed=None if known.needed == 'none' else known.holds,
        information=known.rule or known.reason,
        answer=answered(job.case, answer_of(episode), end),
        false_success=episode.ending is Ending.FINISHED and not end.passed,
    )


def _informed_of_lost(case: Case | None) -> bool | None:
    """Return `informed` of an episode that nothing came of: not where anything was needed."""
    return None if case is None or case.needs == 'none' else False


def lost(
    key: EpisodeKey, reason: str, error: str, *, least_loops: int, case: Case | None = None
) -> EpisodeResult:
    """
    Return the result of an episode of which nothing came back.

    The reason is one sentence, the error a type such as `BrokenProcessPool`; no case is given
    where that could not be made.
    """
    return EpisodeResult(
        key=key,
        verdict=LOST,
        reason=reason,
        least_loops=least_loops,
        ending=BROKEN_OFF,
        message=reason,
        error=error,
        case_hash=fingerprint(case) if case is not None else '',
        informed=_informed_of_lost(case),
    )


def _tally(episode: Episode) -> tuple[int, int, Counter[str]]:
    """
    Return how many steps were carried out, how many passed on, and why how many others failed.

    A step is announced before its Body is asked. Where neither a call nor a pass follows before
    the plan goes on, there was no call in the reply of the Body. One that the end of the episode
    cut off was not tried, unless the end came from that reply.
    """
    executable = passes = 0
    codes: Counter[str] = Counter()
    waiting = False
    for event in episode.events:
        match event.data:
            case StepBegun() | RepairBegun() | StepFailed():
                if waiting:
                    codes[NO_CALL] += 1
                waiting = isinstance(event.data, StepBegun)
            case SkillCall():
                waiting = False
            case StepPassed():
                waiting = False
                passes += 1
            case Outcome() as outcome:
                if outcome.succeeded:
                    executable += 1
                else:
                    codes[outcome.code.name] += 1
            case EpisodeEnded(error=error):
                if waiting and error in ('', 'ParseError'):
                    codes[NO_CALL] += 1
    return executable, passes, codes


def fault_of(episode: Episode) -> tuple[str, str]:
    """Return what infrastructure failed, '' if none did, and the type of the last error."""
    ends = [e.data.error for e in episode.events if isinstance(e.data, EpisodeEnded)]
    error = ends[-1] if ends else ''
    # The name of an error's type is all that a journal keeps of it.
    kind = getattr(errors, error, None)
    failed: dict[Ending | None, str] = {
        None: 'The episode broke off',
        Ending.WORLD_FAILED: 'The world failed',
        Ending.CANCELLED: 'The episode was stopped',
    }
    if isinstance(kind, type) and issubclass(kind, INFRASTRUCTURE):
        failed[Ending.MODEL_FAILED] = 'The model could not be asked'
    why = episode.message or error or 'no reason is on record'
    return f'{failed[episode.ending]}: {why}' if episode.ending in failed else '', error


def moves_of(outcomes: Iterable[Outcome]) -> tuple[tuple[str, str], ...]:
    """Return what was picked, and where it was put; see `FinalState`."""
    moves: list[tuple[str, str]] = []
    for outcome in outcomes:
        if outcome.succeeded and outcome.call.skill == 'pick':
            moves.append((outcome.call.args[0], ''))
        elif outcome.succeeded and outcome.call.skill == 'place' and moves:
            moves[-1] = (moves[-1][0], outcome.call.args[0])
    return tuple(moves)


def _outcomes(episode: Episode) -> Iterator[Outcome]:
    return (event.data for event in episode.events if isinstance(event.data, Outcome))


def judge_by_pictures(
    case: Case,
    episode: Episode,
    *,
    first: Scene | None,
    last: Scene | None,
    names: Mapping[str, str],
) -> Score:
    """
    Score the table that an episode left by scenes from pictures, from its start and its end.

    The goal, and what no picture shows of objects, such as their mass, is that of the case;
    *names* as of `score`. What pictures never showed, but the goal names, fails it, and so does a
    table of which there is no scene (None).
    """
    if first is None or last is None:
        return unseen_score(('the table',))
    named = {spec.name for spec in case.table.objects}
    wanted = named.intersection(_words_of(case.table_goal.model_dump()))
    if unseen := sorted(wanted - {*first.names, *last.names}):
        return unseen_score(unseen)
    return score_table(case, first, last, moves_of(_outcomes(episode)), names)


def _words_of(value: object) -> Iterator[str]:
    """Yield every word of nested records, keys included."""
    match value:
        case str():
            yield from re.findall(r'\w+', value)
        case dict():
            for pair in value.items():
                yield from _words_of(pair)
        case list() | tuple():
            for item in value:
                yield from _words_of(item)


def score_table(
    case: Case,
    start: Scene,
    now: Scene,
    moves: tuple[tuple[str, str], ...] = (),
    names: Mapping[str, str] = MappingProxyType({}),
    answer: str | None = None,
) -> Score:
    def called(name: str) -> str:
        return names.get(name, name)

    state = FinalState(
        objects={item.name: item for item in now.objects},
        start={item.name: item for item in start.objects},
        out_of_reach=frozenset(map(called, case.out_of_reach)),
        mass_kg={called(spec.name): spec.mass for spec in case.table.objects},
        fixed=frozenset(called(spec.name) for spec in case.table.objects if spec.fixed),
        held=now.held or '',
        moves=moves,
        answer=answer,
    )
    return judge(case.table_goal, state)


def _conditions(score: Score) -> dict[str, bool]:
    """Return conditions by text; one that is named twice is met if both are."""
    conditions: dict[str, bool] = {}
    for condition in score.conditions:
        conditions[condition.text] = conditions.get(condition.text, True) and condition.holds
    return conditions


# --- episodes of a session before the judged one ------------------------------------------------


def with_earlier(
    result: EpisodeResult, job: EpisodeSpec, episodes: Sequence[Episode]
) -> EpisodeResult:
    """Return a result with what the episodes before took; the same if there are none."""
    if not episodes:
        return result
    calls = [call for episode in episodes for call in episode.model_calls]
    prompts, sent = (sum(c.prompt_tokens for c in calls), sum(c.size_tokens for c in calls))
    earlier = Earlier(
        episodes=len(episodes),
        model_calls=len(calls),
        tokens=max(prompts, sent) + sum(call.completion_tokens for call in calls),
    )
    return replace(result, earlier=earlier)


def lost_before(job: EpisodeSpec, episodes: Sequence[Episode]) -> EpisodeResult | None:
    """
    Return the result of an episode that cannot be played as its case wants; None if it can.

    Where a model or a world failed in one of the episodes before it, less was found out.
    """
    for i, episode in enumerate(episodes):
        reason, error = fault_of(episode)
        if reason:
            reported = f'Episode {i + 1} of the {len(job.case.earlier)} before this one: {reason}'
            least = job.case.least_loops
            result = lost(job.key, reported, error, least_loops=least, case=job.case)
            return with_earlier(result, job, episodes)
    return None


def earlier_lines(results: Iterable[EpisodeResult]) -> list[str]:
    """Return one sentence on what episodes before the judged ones took; none without such."""
    found = [result.earlier for result in results if result.earlier is not None]
    if not found:
        return []
    tokens = sum(each.tokens for each in found)
    parts = [f'{sum(each.model_calls for each in found)} model calls']
    parts += [f'{tokens:,} tokens'] if tokens else []
    return [
        f'The {sum(each.episodes for each in found)} episodes before the judged ones took '
        f'{", ".join(parts)} more, which no other figure counts.'
    ]
