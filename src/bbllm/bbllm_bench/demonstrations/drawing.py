"""
Draws the episodes of a data set: which task on which table, and what goes wrong in it.

Every second episode is a random pick and place, the others are the tasks of the suite `tabletop`
in turn. Both are drawn by number and seed alone, so that they do not depend on who plays them.
"""

from dataclasses import dataclass
from functools import lru_cache

from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.planners.common.methods import MappingMethod
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scene_sampling.placement import Dice
from bbllm_bench.suites.suite import Suite, TaskSpec, load_suite

PLANNER, MODEL = 'brain_body', 'offline'
"""What plans, and the stand-in that answers for both of its models."""
MODELS = {role: ModelConfig(provider=MODEL) for role in ('brain', 'body')}
LOOPS = 3
"""Feedback loops of an episode that may repair."""
RANDOM, SUITE = 'pick_place', 'tabletop'
"""The suites of the episodes; the first has no file."""
COLORS = ('red', 'orange', 'yellow', 'green', 'blue', 'purple', 'white', 'pink')
LETTERS = 'ABCDE'
"""Of the places on a random table."""
PICKS = 3
"""How many picks each task of the suite has at least."""
Sentence = tuple[str, tuple[tuple[int, int | str], ...]]
SENTENCES: tuple[Sentence, ...] = (
    ('put the {0} on {A}', ((0, 'A'),)),
    ('place the {0} on the {1}', ((0, 1),)),
    ('put the {0} on {A} and the {1} on {B}', ((0, 'A'), (1, 'B'))),
    ('put the {0} on {A}, then put the {1} on the {0}', ((0, 'A'), (1, 0))),
    ('stack the {0} on the {1}, then stack the {2} on the {0}', ((0, 1), (2, 0))),
)
"""Sentences with what is to rest on what then: numbers stand for objects, letters for places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """Which episodes a data set has; equal settings give equal data sets."""

    episodes: int
    seed: int = 0
    misses: float = 0.25
    """Share of the episodes in which one grasp is made to miss, 0 to 1."""
    unrepaired: float = 0.1
    """Share of the episodes without feedback loops: what fails stays failed, 0 to 1."""
    only_successful: bool = False
    """Whether episodes that the hidden checker fails are left out, and others drawn for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSpec(EpisodeSpec):
    """One episode to play and to sample."""

    number: int
    """Of the draw, from 0; where episodes are left out it is no index of the data set."""
    miss: int | None = None
    """Before which of its picks, from 1, the hand is made to miss its next grasp."""


def draw(number: int, settings: DemoSettings, llm: LlmConfig) -> DemoSpec:
    """
    Draw the episode of a number, always the same for the same seed and shares.

    Raises:
        CaseError: Its table could not be made.
    """
    dice = Dice(f'demonstrations/{settings.seed}/{number}')
    misses = dice.between(0.0, 1.0) < settings.misses
    loops = 0 if dice.between(0.0, 1.0) < settings.unrepaired else LOOPS
    if number % 2 == 0:
        spec, picks = _pick_place(number, dice)
        suite, trial = Suite(name=RANDOM, description='', tasks=(spec,)), 0
    else:
        suite, picks = _suite(), PICKS
        trial, turn = divmod(number // 2, len(suite.tasks))
        spec = suite.tasks[turn]
    return DemoSpec(
        key=EpisodeKey(spec.name, trial, loops),
        case=make_case(suite, spec.name, seed=settings.seed, trial=trial),
        config=RunConfig(
            planner=PLANNER, mapping=MappingMethod.TEXT, llm=llm.model_copy(update=MODELS)
        ),
        number=number,
        miss=dice.number((1, picks)) if misses else None,
    )


@lru_cache(maxsize=1)
def _suite() -> Suite:
    return load_suite(SUITE)


def _pick_place(number: int, dice: Dice) -> tuple[TaskSpec, int]:
    """Return a task on a table with other objects and places beside, and how many picks it has."""
    sentence, rests = dice.one_of(SENTENCES)
    count = len({part for pair in rests for part in pair if isinstance(part, int)})
    # What something else is put on is a cube: it has the most room on top.
    below = {under for _, under in rests}
    colors = dice.shuffled(COLORS)
    kinds = ['cube' if i in below else dice.one_of(('cube', 'cylinder')) for i in range(count)]
    names = [f'{color}_{kind}' for color, kind in zip(colors, kinds)]
    letters = LETTERS[: dice.number((2, len(LETTERS)))]
    places = dict(zip('AB', (f'location_{letter}' for letter in dice.shuffled(letters))))
    objects: list[dict[str, object]] = [
        {'kind': kind, 'count': 1, 'colors': [color]} for color, kind in zip(colors, kinds)
    ]
    if others := dice.number((0, 3)):
        objects.append({'kind': 'cube', 'count': others, 'colors': colors[count:]})
    goal = '; '.join(
        f'on({names[above]}, {names[under] if isinstance(under, int) else places[under]})'
        for above, under in rests
    )
    words = (name.replace('_', ' ') for name in names)
    spec = TaskSpec.model_validate({
        'name': f'{RANDOM}_{number:06d}',
        'instruction': sentence.format(*words, **places),
        'difficulty': 'easy',
        'least_loops': 0,
        'goal': {'kind': 'conditions', 'text': goal, 'level_m': 0.01, 'tilt_deg': 18},
        'generate': {'objects': objects, 'locations': [{'count': len(letters)}]},
    })  # fmt: skip
    return spec, len(rests)
