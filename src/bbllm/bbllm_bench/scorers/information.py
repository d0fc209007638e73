"""
Whether a planner had found out what a task needs before it took the action that counts.

Read from the journal, and from how many blocks there are and how many of them are fixed: what the
robot lifted, what was felt meanwhile, what would not rise, and when the model was asked.
What was found out only after the reply that decided cannot have informed it; so a plan made in one
go is not informed of weights, however lucky. That a block can be moved is different: it can be put
down only after it rose, so its own PICK is the test, also within one reply.
docs/scoring.md explains which reply decides.
"""

import math
from dataclasses import dataclass

from bbllm.core.events import Episode, ModelCall, SceneRecorded
from bbllm.core.observation import Observed
from bbllm.core.registry import load_planner
from bbllm.core.text import listed
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Hold, Needs, Tower

RISEN_M = 0.05
"""How far a block must have risen to count as lifted [m]; a pick lifts by 0.08 m."""
ON_ANOTHER_M = 0.02
"""What ends up higher than it began by this stands on another [m]; a block is 0.04 m high."""
IN_HAND_M = 0.04
"""How far from the tool centre point a block may be that is in the hand [m]; seen: 0.012."""
OPENED_M = 0.01
"""How much wider than around a block the fingers of a hand are that let go of it [m]."""
TRIED = 'every block was tried'
GATED = 'what was put down rose first, and the rest is fixed, since the task states how many are'
REST_IS_FIXED = 'what was not tried is fixed, since the task states how many are'
REST_IS_MOVABLE = 'what was not tried can be moved, since the task states how many are fixed'
WEIGHED = 'every block was weighed'


@dataclass(frozen=True, slots=True, kw_only=True)
class Information:
    """What was known in time."""

    needed: Needs
    rule: str = ''
    """What makes it enough; empty where nothing was needed, or where it was not enough."""
    reason: str = ''
    """What was lacking, in one sentence; empty where nothing was."""

    @property
    def holds(self) -> bool:
        """Whether all that was needed was known before the decision; true where nothing was."""
        return not self.reason


def gathered(case: Case, episode: Episode) -> Information:
    """
    Return what was found out before the decision that led to the final state.

    Raises:
        UnknownNameError: What was felt matters, and the planner is not installed, so that nobody
            can say whether its prompts told it.
    """
    if case.needs == 'none':
        return Information(needed='none')
    rule, lack = '', ''
    # What was measured informs only whom it was shown.
    if case.needs == 'weights' and not load_planner(episode.planner).uses_force:
        lack = f'The prompts of {episode.planner} tell no force'
    else:
        story = _Story(case, episode)
        decision, decided = story.decision()
        if decision is None:
            lack = decided
        elif case.needs == 'weights':
            rule, lack = story.weights(decision, decided)
        else:
            rule, lack = story.movable(decision, decided)
    return Information(needed=case.needs, rule=rule, reason=f'{lack}.' if lack else '')


class _Story:
    """What a journal records of blocks; numbers are those of events."""

    def __init__(self, case: Case, episode: Episode):
        self._case = case
        self._replies: list[int] = []
        """Replies of the planner."""
        self._weighed: dict[str, int] = {}
        """First time that a block was felt while it was up in the hand."""
        self._lifted: dict[str, int] = {}
        """First time that a block was lifted."""
        self._stuck: dict[str, int] = {}
        """First time that a block would not rise."""
        self._put: list[tuple[int, str]] = []
        """Calls that put something down, and what."""
        self._start_z = {item.name: item.pose.position_m[2] for item in case.table.movables}
        """Heights of the blocks at the start [m]."""
        self._last_z = dict(self._start_z)
        """The same when they were last seen [m]."""
        self._standing_z = dict(self._start_z)
        """The same when they were last seen out of the hand [m]."""
        self._held = ''
        self._doubted = False
        """Whether a call that was to let go of it failed, with no observation since."""
        self._grip_m: float | None = None
        """How far the fingers were apart around it when they were last seen so [m]."""
        self._newly = ''
        """What was picked by the last call, until the next observation."""
        call = 0
        for number, event in enumerate(episode.events):
            match event.data:
                # What a Body is asked while a plan is carried out decides nothing of the plan.
                case ModelCall(role=role) if role != 'body':
                    self._replies.append(number)
                case SceneRecorded() as recorded:
                    self._take_scene(recorded)
                case SkillCall():
                    call = number
                case Outcome() as outcome:
                    self._take_outcome(number, call, outcome)
                case Observed() as seen:
                    self._take_observed(number, seen)

    def _take_scene(self, recorded: SceneRecorded) -> None:
        seen = {item.name: item.pose.position_m[2] for item in recorded.scene.objects}
        heights = {name: seen[name] for name in self._start_z if name in seen}
        self._last_z.update(heights)
        if recorded.moment == 'before':
            self._start_z.update(heights)
            self._standing_z.update(heights)

    def _take_outcome(self, number: int, call: int, outcome: Outcome) -> None:
        skill, args = outcome.call.skill, outcome.call.args
        done, tried = outcome.succeeded, outcome.status is not Status.REJECTED
        self._newly = ''
        if skill == 'pick' and args:
            if done:
                self._newly = '' if args[0] in self._lifted else args[0]
                self._held, self._doubted, self._grip_m = args[0], False, None
                self._lifted.setdefault(args[0], number)
            elif outcome.code is Code.WOULD_NOT_RISE:
                self._stuck.setdefault(args[0], number)
        elif skill in ('place', 'open_gripper') and tried and self._held:
            # One that failed may have let go, too, somewhere else than asked; or may not have,
            # which the next look tells. Until then who opens the hand may open an empty one.
            if skill == 'place' or not self._doubted:
                self._put.append((call, self._held))
            self._held, self._doubted = '' if done else self._held, not done

    def _take_observed(self, number: int, seen: Observed) -> None:
        heights = {name: pose[2] for name, pose in seen.blocks.items()}
        self._last_z.update(heights)
        self._check_hand(seen)
        held, self._newly, newly = self._held, '', self._newly
        self._standing_z.update({name: z for name, z in heights.items() if name != held})
        if held not in heights:
            return
        risen = heights[held] - self._standing_z.get(held, 0.0) >= RISEN_M
        if not risen and newly == held:
            del self._lifted[held]  # it was said to be in the hand, but is not up
        if risen and seen.force_n is not None:
            self._weighed.setdefault(held, number)

    def _check_hand(self, seen: Observed) -> None:
        """Measure how wide the hand is around its block, and check in doubt that it has it."""
        block, hand = seen.blocks.get(self._held), seen.eef
        if block is None or hand is None:
            return
        apart_m = sum(seen.fingers_m or ())
        if not self._doubted:
            self._grip_m = apart_m
            return
        opened = self._grip_m is not None and apart_m > self._grip_m + OPENED_M
        if opened or math.dist(block[:3], hand[:3]) > IN_HAND_M:
            self._held = ''
        self._doubted = False

    def decision(self) -> tuple[int | None, str]:
        """
        Return the reply that decided, and words for it; no reply, and why there is none.

        That a block stays in the hand is decided by the last reply of all. Otherwise
        it is the last reply before what ended up where it counts was put down for the last time.
        """
        if isinstance(self._case.goal, Hold):
            if not self._replies:
                return None, 'No model was asked, so no reply decided'
            return self._replies[-1], 'the last reply'
        if not self._put:
            return None, 'Nothing was put down, so nothing was decided'
        call, name = self._committed()
        before = [reply for reply in self._replies if reply < call]
        if not before:
            return None, f'No model was asked before {name} was put down'
        return before[-1], f'the reply that put {name} down'

    def _committed(self) -> tuple[int, str]:
        """Return the last call that put down what counts, and what that was."""
        return ([put for put in self._put if self._counts(put[1])] or self._put)[-1]

    def _counts(self, name: str) -> bool:
        """Whether putting a block down commits to the final state."""
        if isinstance(self._case.goal, Tower):
            return self._last_z.get(name, 0.0) - self._start_z.get(name, 0.0) > ON_ANOTHER_M
        return all(spec.name != name or not spec.fixed for spec in self._case.table.objects)

    def weights(self, decision: int, decided: str) -> tuple[str, str]:
        """All blocks must have been weighed: one left out could belong anywhere."""
        # What is fixed cannot be weighed: it is known, once it did not rise.
        stuck = {name for name, number in self._stuck.items() if number < decision}
        fixed = {spec.name for spec in self._case.table.objects if spec.fixed} & stuck
        names = [item.name for item in self._case.table.movables if item.name not in fixed]
        never = [name for name in names if name not in self._weighed]
        late = [name for name in names if self._weighed.get(name, -1) >= decision]
        lacks = [f'not weighed: {listed(never)}'] if never else []
        lacks += [f'weighed only after {decided}: {listed(late)}'] if late else []
        lack = '; '.join(lacks)
        return '' if lack else WEIGHED, lack[:1].upper() + lack[1:]

    def movable(self, decision: int, decided: str) -> tuple[str, str]:
        """Of each block it must be known, or follow from the others, whether it can be moved."""
        specs = self._case.table.objects
        n_fixed = sum(spec.fixed for spec in specs)
        rose = {name for name, number in self._lifted.items() if number < decision}
        stuck = {name for name, number in self._stuck.items() if number < decision} - rose
        if len(rose | stuck) == len(specs):
            return TRIED, ''
        if len(stuck) == n_fixed:
            return REST_IS_MOVABLE, ''
        if len(rose) == len(specs) - n_fixed:
            return REST_IS_FIXED, ''
        call, _ = self._committed()
        gated = {name for name, number in self._lifted.items() if number < call}
        if len(gated) == len(specs) - n_fixed:
            return GATED, ''
        tried = len(rose | stuck) or 'none'
        later = ', the others later' if {*self._lifted, *self._stuck} - rose - stuck else ''
        return '', f'Of {len(specs)} blocks, {tried} had been tried before {decided}{later}'
