"""A conversation of FT-CoT made by hand: red_cube weighs 0.08 kg, blue_cube 0.15 kg."""

from bbllm.core.protocols import Reply
from bbllm.llm.recording.replay import FORMAT, Exchange, RecordedMessage, line_of
from bbllm.planners.common.model_planner import PromptHistory
from bbllm.planners.llm_pop.fine_tuned import (
    HISTORY,
    FtRound,
    Question,
    Vector,
    numbers,
)
from bbllm.planners.llm_pop.fine_tuned_grammar import FtReply, parse_reply
from bbllm_bench.benchmarks.finetuning.kinds import KINDS
from bbllm_bench.benchmarks.finetuning.pairs import Pair, split_prompt
from bbllm_bench.benchmarks.finetuning.tasks import DataTask, suite_of
from bbllm_bench.scene_sampling.generator import make_case

MASSES_KG = {'red_cube': 0.08, 'blue_cube': 0.15}
OFFSET_N = 0.3
RED = (0.45, -0.10, 0.020)
BLUE = (0.50, 0.15, 0.020)
OVER_RED = (0.45, -0.10, 0.112)
OVER_BLUE = (0.50, 0.15, 0.112)
BASE = (0.307, 0.0, 0.487)

UNKNOWN = 'EXPLAIN: No. The weights are not known.\nACTION: <nooutput>'
WEIGH = (
    "EXPLAIN: Lift both.\nACTION: [pick('red_cube'), "
    "place('red_cube', [0.45, -0.1, 0.032], [1, 0, 0, 0]), pick('blue_cube'), "
    "place('blue_cube', [0.5, 0.15, 0.032], [1, 0, 0, 0])]"
)
KNOWN = 'EXPLAIN: Yes. blue_cube is heavier.\nACTION: <nooutput>'
SOLVE = (
    "EXPLAIN: red_cube goes on it.\nACTION: [pick('red_cube'), "
    "place('red_cube', [0.5, 0.15, 0.072], [1, 0, 0, 0])]"
)


def look(
    red: tuple[float, float, float] = RED,
    blue: tuple[float, float, float] = BLUE,
    hand: tuple[float, float, float] = BASE,
    *,
    holds_kg: float = 0.0,
    opening_m: float = 0.064,
) -> Vector:
    """Return an observation."""
    upright, down = (0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)
    force_n = (0.02, -0.05, OFFSET_N - 9.81 * holds_kg)
    fingers_m = (opening_m / 2, opening_m / 2)
    return (*red, *upright, *blue, *upright, *hand, *down, *force_n, *fingers_m)


START = look(opening_m=0.08)


def felt(red_kg: float, blue_kg: float) -> tuple[Vector, ...]:
    """Return what is observed while both are weighed."""
    return (
        look((0.45, -0.10, 0.100), hand=OVER_RED, holds_kg=red_kg, opening_m=0.040),
        look(hand=OVER_RED),
        look(blue=(0.50, 0.15, 0.100), hand=OVER_BLUE, holds_kg=blue_kg, opening_m=0.040),
        look(hand=OVER_BLUE),
    )


WEIGHED = felt(*MASSES_KG.values())


def prompt(question: Question, current: Vector, *rounds: FtRound) -> str:
    """Write a prompt of the host."""
    history = PromptHistory(HISTORY)
    for item in rounds:
        history.add(item)
    return (
        'Task: Stack the lighter block on the heavier one.\nBlocks: red_cube, blue_cube\n'
        f'Table: centre 0.500 0.000, size 0.360 0.600, top 0.000\nQuestion: {question.value}\n'
        f'Current: [{numbers(current)}]\nPast:\n{history.text()}'
    )


def weighing(vectors: tuple[Vector, ...] = WEIGHED, failed: str = '') -> FtRound:
    """Return the round in which both are weighed, or as much of it as there are vectors."""
    reply = parse_reply(WEIGH)
    words = f'{reply.explanation} Failed: {failed}' if failed else reply.explanation
    return FtRound(words, reply.actions[: len(vectors)], vectors)


def conversation(weighed: FtRound | None = None) -> list[tuple[str, str]]:
    """Return prompts and replies of an episode."""
    weighed = weighed or weighing()
    no, yes = FtRound(said(UNKNOWN).explanation), FtRound(said(KNOWN).explanation)
    now = weighed.vectors[-1]
    return [
        (prompt(Question.ENOUGH, START), UNKNOWN),
        (prompt(Question.GATHER, START, no), WEIGH),
        (prompt(Question.ENOUGH, now, no, weighed), KNOWN),
        (prompt(Question.SOLVE, now, no, weighed, yes), SOLVE),
    ]


def said(reply: str) -> FtReply:
    return parse_reply(reply)


def exchanges(talk: list[tuple[str, str]], episode: str = '') -> list[Exchange]:
    """Return a conversation as it is recorded."""
    return [
        Exchange(
            format=FORMAT,
            role='brain',
            name='expert',
            supports_schema=False,
            messages=(RecordedMessage('user', asked),),
            stop=(),
            schema_hash='',
            reply=Reply(text=answered, model='expert'),
            episode=episode,
        )
        for asked, answered in talk
    ]


def recording(talk: list[tuple[str, str]], episode: str = '') -> str:
    return ''.join(line_of(exchange) for exchange in exchanges(talk, episode))


def pair(
    question: Question = Question.SOLVE,
    *,
    weighed: FtRound | None = None,
    answer: str | None = None,
    current: Vector | None = None,
    masses_kg: dict[str, float] | None = None,
) -> Pair:
    """Return a pair of that conversation, with what is given changed."""
    weighed = weighed or weighing()
    no = FtRound(said(UNKNOWN).explanation)
    usual = {Question.ENOUGH: KNOWN, Question.GATHER: WEIGH}.get(question, SOLVE)
    now = weighed.vectors[-1] if current is None else current
    instruction, given = split_prompt(prompt(question, now, no, weighed))
    return Pair(
        instruction=instruction,
        input=given,
        output=answer or usual,
        masses_kg=MASSES_KG if masses_kg is None else masses_kg,
    )


def data_task(name: str = 'lighter_on_heavier', number: int = 0) -> DataTask:
    kind = next(kind for kind in KINDS if kind.name == name)
    return DataTask(f'{name}_{number:03d}', kind, kind.sentences[number])


def data_case(task: DataTask, trial: int = 0) -> object:
    return make_case(suite_of([task]), task.name, seed=0, trial=trial)
