"""What an episode has shown so far: failures, feedback from people, and beliefs."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from bbllm.core.events import FeedbackReceived
from bbllm.core.protocols import PromptRequest, StepFailure
from bbllm.core.types import Scene
from bbllm_bench.oracle.clauses import names_in
from bbllm_bench.oracle.table_goals import RefusalError, TableGoal, TableObject, objects_of

TRIES = 2
"""How often a step may fail for a reason that might pass."""
_FINAL = re.compile(
    r'out of (?:the )?(?:workspace|reach)|unreachable|not reachable|cannot (?:be )?reach|no path|'
    r'no way|not graspable|cannot be (?:grasped|picked)|no room|no clearance|too wide|no object|'
    r'is no pose|pose .{1,80} is too far away|the yaw in',
    re.IGNORECASE,
)
"""What a world says of failures that trying again would repeat."""
_TAKEN = re.compile(r'occupied|taken|not free', re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:not|don['’]?t|never|avoid|skip|without|except|leave|keep off)\b")
_HOPELESS = {'out_of_workspace', 'would_not_rise', 'fixed_or_heavy', 'failed_grasp_twice'}


def unwanted_in(text: str, objects: Mapping[str, TableObject]) -> list[str]:
    """Return the objects that are not to be used by a remark `not the red one`, if it is one."""
    negative = _NEGATIVE.search(text.lower())
    return names_in(text.lower()[negative.end() :], objects) if negative else []


class Lessons:
    """What an episode has shown so far."""

    def __init__(
        self,
        request: PromptRequest,
        scene: Scene,
        read: Callable[[str], Sequence[TableGoal]] = lambda text: (),
        remarks: Sequence[FeedbackReceived] = (),
        taken: Collection[str] = (),
    ):
        """Take in all but the texts that were *taken* as corrections or answered."""
        self.bad: dict[str, str] = {}
        """Objects and places that cannot be used, names or `x y` of a pose, and why."""
        self.taken: set[str] = set()
        """Places that were found occupied."""
        self.failed: list[tuple[float, float]] = []
        """Where else something could not be placed [m]."""
        self.done = Counter(request.plan[: request.start])
        """Texts of the steps that were carried out."""
        self.moved = {text.split()[1] for text in self.done if text.startswith('place ')}
        """Objects that the robot has placed, so that they are within reach."""
        self.preferred: list[str] = []
        """Objects and places that a person asked for."""
        self.wishes: list[TableGoal] = []
        """What a person asked for beyond the task."""
        self.notes: list[str] = []
        """What was not understood."""
        self._objects = objects_of(scene)
        self._tries: Counter[str] = Counter()
        for fact in scene.facts:
            if fact.estimated and fact.predicate == 'is' and fact.object in _HOPELESS:
                self.bad.setdefault(fact.subject, f'It is believed that {fact}.')
        for failure in request.failures:
            if failure.tried:
                self._learn_failure(failure)
        received = [
            *remarks,
            *(remark for failure in request.failures for remark in failure.human),
        ]
        wishes = (remark.text for remark in received if not remark.question)
        for text in dict.fromkeys(text for text in wishes if text and text not in taken):
            self._learn_wish(text, read)

    def failed_at(self, x: float, y: float) -> bool:
        """Whether placing something there, or within 3 cm, has failed before."""
        return any(math.dist((x, y), spot) < 0.03 for spot in self.failed)

    def reasons(self, names: Sequence[str]) -> str:
        """Return what ruled out some of these objects or places."""
        return ' '.join(dict.fromkeys(self.bad[name] for name in names if name in self.bad))

    def _learn_failure(self, failure: StepFailure) -> None:
        """Rule out what was picked, or where something was to be placed."""
        step = failure.step.text
        found = re.match(r'pick (\S+)|place \S+ (?:on|at) (\S+(?: [-\d.]+)?)', step)
        if found is None:
            return
        name = found[1] or found[2]
        self._tries[step] += 1
        if found[2] and _TAKEN.search(failure.cause):
            self.taken.add(name)
        elif _FINAL.search(failure.cause):
            self.bad.setdefault(name, failure.cause)
        if self._tries[step] >= TRIES:
            self.bad.setdefault(name, failure.cause)

    def _learn_wish(self, text: str, read: Callable[[str], Sequence[TableGoal]]) -> None:
        """Take in `not location_B`, `use aqua_cube instead of the red one` or a new task."""
        wanted, instead, unwanted = text.lower().partition('instead of')
        takes = instead or re.match(r'\s*(?:please\s+)?(?:use|take|prefer|try)\b', wanted)
        bad = names_in(unwanted, self._objects) if instead else unwanted_in(text, self._objects)
        negative = not instead and _NEGATIVE.search(text.lower())
        good = names_in(wanted, self._objects) if takes and not negative else []
        self.preferred += good
        for name in bad:
            self.bad.setdefault(name, f'a person said: {text}')
        if good or bad:
            return
        try:
            self.wishes += read(text)
        except RefusalError:
            self.notes.append(text)
