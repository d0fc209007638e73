"""Sub-goals of a goal: the request for them, and the correction of omissions and inventions."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from bbllm import ChatModel, EpisodeContext, Scene, Task, errors, events
from bbllm.planning import (
    Body,
    Embedder,
    LexicalEmbedder,
    MatchingBody,
    PromptRequest,
    ReplyDiagnostics,
    ask,
    class_of,
    classes,
)
from bbllm_planners.fltrnn.grammar import parse_sub_goals
from bbllm_planners.goal_predicates import (
    GoalPredicate,
    goal_text,
    parse_goal,
    refuse_empty,
)

MAX_SENTENCE = 300
"""Maximum length of a sub-goal in words [characters]."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a task, or a part of it."""

    text: str
    """Predicates as `goal_text` writes them, or a sentence."""
    predicates: tuple[GoalPredicate, ...] = ()
    """Empty for a plain sentence."""


def read_goal(task: Task, scene: Scene) -> Goal:
    """Parse the goal of a task; raise GaveUpError if it is impossible."""
    refuse_empty(scene)
    try:
        predicates = parse_goal(task.instruction, classes(scene))
    except errors.ParseError as error:
        raise errors.GaveUpError(f'The goal cannot be read. {error}') from error
    if predicates is None:
        return Goal(task.instruction)
    counts = Counter(map(class_of, scene.names))
    needs = [
        (item, word, wanted)
        for item in predicates
        for word, wanted in ((item.noun, item.n_needed), (item.place, 1))
        if word
    ]
    for predicate, word, wanted in needs:
        if scene.whole and counts[word] < wanted:
            raise errors.GaveUpError(
                f'`{predicate}` wants {wanted} of {word}, but the house has {counts[word]}. '
                f'There are: {", ".join(classes(scene))}.'
            )
    return Goal(goal_text(predicates), predicates)


def embedder_of(body: Body) -> Embedder:
    return body.embedder if isinstance(body, MatchingBody) else LexicalEmbedder()


def ask_sub_goals(
    model: ChatModel, prompt: str, goal: Goal, scene: Scene, context: EpisodeContext
) -> Sequence[Goal]:
    """Ask for sub-goals; faults cause one retry, and are then corrected."""
    latest: Sequence[Goal] = ()
    diagnostics = ReplyDiagnostics(context.emit)
    known = classes(scene) if scene.whole else None

    def read(text: str) -> Sequence[Goal]:
        nonlocal latest
        latest, faults = decompose(parse_sub_goals(text), goal, known)
        diagnostics.of_reply(faults)
        if faults:
            listed = '; '.join(f'`{fault.text}` {fault.why}' for fault in faults)
            raise errors.ParseError(
                f'{listed}. The sub-goals have to be all of the goal, and nothing else.'
            )
        return latest

    request = PromptRequest(kind='sub_goals', scene=scene)
    try:
        return ask(model, prompt, read, request=request, on_retry=context.warn, person=context)
    except errors.ParseError:
        if not latest:
            raise
        return latest


def decompose(
    texts: Sequence[str], goal: Goal, classes: Collection[str] | None
) -> tuple[Sequence[Goal], Sequence[events.LineDiscarded]]:
    """
    Return the corrected sub-goals of a reply, at least one, and its faults.

    The parts of a goal in predicates must have all its predicates, and no others; the counts of
    several parts with one predicate may add up to that of the goal, or the last may have it. A
    goal in words can be split in any way, into words or predicates of existing `classes` (None:
    of any).
    """
    faults: list[events.LineDiscarded] = []
    wanted = {_what(predicate): predicate.count for predicate in goal.predicates}
    so_far: dict[GoalPredicate, int] = {}
    known = {word for item in goal.predicates for word in (item.noun, item.place) if word}
    known.update(classes or ())

    def fault(text: str, why: str, *, refused: bool = True) -> None:
        faults.append(events.LineDiscarded(text, why, refused=refused))

    def kept(predicate: GoalPredicate) -> Iterator[GoalPredicate]:
        what = _what(predicate)
        strange = {predicate.noun, predicate.place} - known - {''}
        if not wanted:
            if strange and classes is not None:
                fault(str(predicate), f'names {min(strange)}, of which there is none')
            else:
                yield predicate
        elif what not in wanted:
            fault(str(predicate), 'is not in the goal')
        else:
            before, limit = so_far.get(what, 0), wanted[what]
            if before >= limit or predicate.count > limit:
                fault(str(predicate), f'is more than the goal wants, which is {limit}')
            if before < limit:
                # A second part with one more milk is reached with two.
                so_far[what] = min(before + predicate.count, limit)
                yield replace(predicate, count=so_far[what])

    parts: list[Goal] = []
    for text in texts:
        try:
            predicates = parse_goal(text, known)
        except errors.ParseError as error:
            fault(text, f'cannot be read. {error}', refused=False)
            continue
        if predicates is not None:
            chosen = tuple(item for predicate in predicates for item in kept(predicate))
            parts += [Goal(goal_text(chosen), chosen)] if chosen else []
        elif wanted:
            fault(text[:80], 'is no part of the goal, which is predicates')
        elif len(text) > MAX_SENTENCE:
            fault(text[:80], f'has {len(text)} characters, of {MAX_SENTENCE}')
        else:
            parts.append(Goal(text))
    omitted: dict[str, list[GoalPredicate]] = {}
    for predicate in goal.predicates:
        if so_far.get(_what(predicate), 0) < predicate.count:
            fault(str(predicate), 'is in the goal, and in no part of it')
            # The contents of a microwave, and that it is closed and on, belong together.
            omitted.setdefault(predicate.place or predicate.noun, []).append(predicate)
    parts += [Goal(goal_text(items), tuple(items)) for items in omitted.values()]
    if not parts:
        fault(goal.text, 'has no part that could be worked on')
        parts = [goal]
    return parts, faults


def _what(predicate: GoalPredicate) -> GoalPredicate:
    return replace(predicate, count=0)
