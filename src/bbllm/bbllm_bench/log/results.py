"""What the bench keeps of one episode: one line of `results.jsonl`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bbllm.core.types import SceneObject

CHANGED_PROMPTS = 'replayed with changed prompts'
"""What such an episode is called."""
NO_CASE = 'CaseError'
"""Error of an episode that was lost because its table could not be made."""


@dataclass(frozen=True, slots=True, order=True)
class EpisodeKey:
    """Which episode of a run; a run has each key once."""

    task: str
    trial: int
    k: int

    @property
    def name(self) -> str:
        """Name of its files, for example `plus_sign-t003-k2`."""
        return f'{self.task}-t{self.trial:03d}-k{self.k}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What the episodes took that come before a judged one, see `Case.earlier`."""

    episodes: int
    model_calls: int
    tokens: int
    """Those of prompts as estimated where a server did not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureResult:
    """Scenes from pictures in one episode, measured against the simulator (scorers.pictures)."""

    accepted: bool
    """Whether a judge that goes by pictures alone finds the goal reached."""
    reason: str = ''
    """Why it does not, in one sentence."""
    scenes: int = 0
    """Scenes that were compared: those that the planner asked for."""
    present: int = 0
    """Objects on the tables of these scenes, in all."""
    shown: int = 0
    """Objects in the scenes."""
    correct: int = 0
    """Those of them that were where the scene has them."""
    position_mm: float | None = None
    """Median error of the positions of these [mm]."""
    position_p95_mm: float | None = None
    turned_deg: float | None = None
    """Median error of the orientation of boxes, symmetries allowed for [deg]."""
    pictures: int = 0
    wall_s: float = 0.0
    """Time that all pictures took, drawing and detection included, wall clock [s]."""

    @property
    def recall(self) -> float | None:
        return self.correct / self.present if self.present else None

    @property
    def precision(self) -> float | None:
        return self.correct / self.shown if self.shown else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResult:
    """One episode, judged."""

    key: EpisodeKey
    verdict: str
    """passed or failed; `lost` where infrastructure failed and nothing was judged."""
    reason: str
    """Why it did not pass, in one sentence."""
    conditions: Mapping[str, bool] = field(default_factory=dict)
    gcr: float = 0.0
    """Goal conditions recalled, 0 to 1; see bench.metrics."""
    executable: int = 0
    """Steps that the world carried out."""
    attempted: int = 0
    """Steps that were tried, those that no skill was found for included."""
    loops: int = 0
    least_loops: int
    passes: int = 0
    """Steps that the Body passed on."""
    codes: Mapping[str, int] = field(default_factory=dict)
    ending: str
    message: str = ''
    error: str = ''
    """Type of the error that ended it, '' where none did."""
    unsafe: int | None = None
    """Commands that left the limits or the work space; None where that is not measured."""
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_s: float = 0.0
    """Wall time in models [s]."""
    wall_s: float = 0.0
    robot_s: float = 0.0
    """Time that passed in the world, settling included [s]."""
    settled: tuple[SceneObject, ...] = ()
    case_hash: str = ''
    """Fingerprint of instruction, scene and goal: equal where two runs can be paired."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Names that the servers gave themselves, by role."""
    informed: bool | None = None
    """Whether what the task needs was found out before the decision (bench.information); None
    where the task needs nothing."""
    information: str = ''
    """By which rule it was enough, or what was lacking."""
    ask: str = ''
    """Whether the planner had to ask how the task is meant, see `suites.person`."""
    asked: bool | None = None
    """Whether it asked, where it had to before anything moved; None where that is not measured."""
    answer: str = ''
    """Of a question of the person: `right`, `wrong`, or `refused` without any; else ''."""
    false_success: bool = False
    """Whether the planner ended as done although the checker denies it."""
    prompt_chars: int = 0
    """Of all prompts together [characters]."""
    stable_chars: int = 0
    """How much of that began an earlier prompt too; see core.prompt_size [characters]."""
    sent_tokens: int = 0
    """Tokens of all prompts, as estimated where a server did not count."""
    discarded: int = 0
    """Lines of the model's replies that were left out, of both kinds below."""
    malformed: int = 0
    """Those of them that fit no grammar."""
    refused: int = 0
    """Those that can be read but name missing objects or fail the planner's own checks."""
    limit: str = ''
    """What an unreached goal is due to (scorers.limits); '' where that is not found out."""
    earlier: Earlier | None = None
    """Cost of the episodes before it, which no other field includes; None where there are none."""
    by_pictures: PictureResult | None = None
    """Where scenes came from pictures: their errors, and what a judge by pictures found."""
    changed_prompts: tuple[str, ...] = ()
    """Of each reply of a recording that was given to another prompt, where that differs. With any,
    the episode does not show what the model makes of its prompts."""

    @property
    def passed(self) -> bool:
        return self.verdict == 'passed'

    @property
    def finding(self) -> str:
        """The verdict, and whether prompts have changed since the replies were recorded."""
        return f'{self.verdict}, {CHANGED_PROMPTS}' if self.changed_prompts else self.verdict

    @property
    def tokens(self) -> int:
        """Tokens that it cost, those of prompts as estimated where a server did not count."""
        return max(self.prompt_tokens, self.sent_tokens) + self.completion_tokens

    @property
    def informed_success(self) -> bool:
        """Whether the goal was reached, and knowingly where something had to be found out."""
        return self.passed and self.informed is not False

    @property
    def judge_agrees(self) -> bool | None:
        """Whether the judge by pictures found the same; None where there was none."""
        seen = self.by_pictures
        return None if seen is None or self.lost else seen.accepted is self.passed

    @property
    def lost(self) -> bool:
        """Whether infrastructure failed, so that it is no evidence about planner and model."""
        return self.verdict == 'lost'
