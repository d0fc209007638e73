"""
Whether a planner had found out what a task needs before it took the action that counts.

Read from the journal, and from how many blocks there are and how many of them are fixed: what the
robot lifted, what was felt while it held that, what would not rise, and when the model was asked.
What was found out only after the reply that decided cannot have informed it; so a plan made in one
go is never informed, however lucky. docs/design/informed-success.md explains which reply that is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from bbllm.bench.suites.case import Case
from bbllm.bench.suites.goals import Hold, Needs, Tower
from bbllm.core.events import Episode, Event, ModelCall, SceneRecorded
from bbllm.core.observation import Observed
from bbllm.core.registry import load_planner
from bbllm.core.text import listed
from bbllm.core.types import Code, Outcome, SkillCall, Status

RISEN_M = 0.05
"""How far a block must have risen to count as lifted [m]; a pick lifts by 0.08 m."""
ON_ANOTHER_M = 0.02
"""What ends up higher than it began by this stands on another [m]; a block is 0.04 m high."""
IN_HAND_M = 0.04
"""How far from the tool centre point a block may be that is in the hand [m]; seen: 0.012."""
OPENED_M = 0.01
"""How much wider than around a block the fingers of a hand are that let go of it [m]."""
TRIED = 'every block was tried'
REST_IS_FIXED = 'what was not tried is fixed, since the task says how many are'
REST_IS_MOVABLE = 'what was not tried can be moved, since the task says how many are fixed'
WEIGHED = 'every block was weighed'


@dataclass(frozen=True, slots=True, kw_only=True)
class Information:
    """What was known in time."""

    needed: Needs
    holds: bool
    """Whether all that was needed was known before the decision; true where nothing was."""
    rule: str = ''
    """What makes it enough; empty where nothing was needed, or where it was not enough."""
    reason: str = ''
    """What was lacking, in one sentence; empty where nothing was."""


def gathered(case: Case, episode: Episode) -> Information:
    """
    Return what was found out before the decision that led to the final state.

    Raises:
        UnknownNameError: What was felt matters, and the planner is not installed, so that nobody
            can say whether its prompts told it.
    """
    if case.needs == 'none':
        return Information(needed='none', holds=True)
    # What was measured informs only whom it was shown.
    if case.needs == 'weights' and not load_planner(episode.planner).tells_force:
        return _lacking('weights', f'The prompts of {episode.planner} tell no force')
    story = _story_of(case, episode.events)
    decision, decided = _decision(case, story)
    if decision is None:
        return Information(needed=case.needs, holds=False, reason=f'{decided}.')
    judge = _weights if case.needs == 'weights' else _movable
    return judge(case, story, decision, decided)


@dataclass
class _Story:
    """What a journal records of blocks; numbers are those of events."""

    replies: list[int] = field(default_factory=list)
    """Replies of the planner."""
    weighed: dict[str, int] = field(default_factory=dict)
    """First time that a block was felt while it was up in the hand."""
    lifted: dict[str, int] = field(default_factory=dict)
    """First time that a block was lifted."""
    stuck: dict[str, int] = field(default_factory=dict)
    """First time that a block would not rise."""
    put: list[tuple[int, str]] = field(default_factory=list)
    """Calls that put something down, and what."""
    start_z: dict[str, float] = field(default_factory=dict)
    """Heights of the blocks at the start [m]."""
    last_z: dict[str, float] = field(default_factory=dict)
    """The same when they were last seen [m]."""
    standing_z: dict[str, float] = field(default_factory=dict)
    """The same when they were last seen out of the hand [m]."""
    held: str = ''
    doubted: bool = False
    """Whether a call that was to let go of it failed, with no observation since."""
    grip_m: float | None = None
    """How far the fingers were apart around it when they were last seen so [m]."""
    newly: str = ''
    """What was picked by the last call, until the next observation."""
    call: int = 0


def _story_of(case: Case, events: Sequence[Event]) -> _Story:
    heights = {item.name: item.pose.position_m[2] for item in case.table.movables}
    story = _Story(start_z=heights, last_z=dict(heights), standing_z=dict(heights))
    for number, event in enumerate(events):
        # What a Body is asked while a plan is carried out decides nothing of the plan.
        match event.data:
            case ModelCall(role=role) if role != 'body':
                story.replies.append(number)
            case SceneRecorded() as recorded:
                _take_scene(story, recorded)
            case SkillCall():
                story.call = number
            case Outcome() as outcome:
                _take_outcome(story, number, outcome)
            case Observed() as seen:
                _take_observed(story, number, seen)
    return story


def _take_scene(story: _Story, recorded: SceneRecorded) -> None:
    """Take heights as they were seen: before anything happened, and when all was over."""
    seen = {item.name: item.pose.position_m[2] for item in recorded.scene.objects}
    heights = {name: seen[name] for name in story.start_z if name in seen}
    story.last_z.update(heights)
    if recorded.moment == 'before':
        story.start_z.update(heights)
        story.standing_z.update(heights)


def _take_outcome(story: _Story, number: int, outcome: Outcome) -> None:
    skill, args = outcome.call.skill, outcome.call.args
    done, tried = outcome.succeeded, outcome.status is not Status.REJECTED
    story.newly = ''
    if skill == 'pick' and args:
        if done:
            story.newly = '' if args[0] in story.lifted else args[0]
            story.held, story.doubted, story.grip_m = args[0], False, None
            story.lifted.setdefault(args[0], number)
        elif outcome.code is Code.WOULD_NOT_RISE:
            story.stuck.setdefault(args[0], number)
    elif skill in ('place', 'open_gripper') and tried and story.held:
        # One that failed may have let go, too, somewhere else than asked; or may not have, which
        # the next look tells. Until then who opens the hand may open an empty one.
        if skill == 'place' or not story.doubted:
            story.put.append((story.call, story.held))
        story.held, story.doubted = '' if done else story.held, not done


def _take_observed(story: _Story, number: int, seen: Observed) -> None:
    heights = {name: pose[2] for name, pose in seen.blocks.items()}
    story.last_z.update(heights)
    _check_hand(story, seen)
    held, story.newly, newly = story.held, '', story.newly
    for name, height in heights.items():
        if name != held:
            story.standing_z[name] = height
    if held not in heights:
        return
    risen = heights[held] - story.standing_z.get(held, 0.0) >= RISEN_M
    if not risen and newly == held:
        del story.lifted[held]  # it was said to be in the hand, but is not up
    if risen and seen.force_n is not None:
        story.weighed.setdefault(held, number)


def _check_hand(story: _Story, seen: Observed) -> None:
    """Measure how wide the hand is around its block, and check in doubt that it is still there."""
    block, hand = seen.blocks.get(story.held), seen.eef
    if block is None or hand is None:
        return
    apart_m = sum(seen.fingers_m or ())
    if not story.doubted:
        story.grip_m = apart_m
        return
    opened = story.grip_m is not None and apart_m > story.grip_m + OPENED_M
    if opened or math.dist(block[:3], hand[:3]) > IN_HAND_M:
        story.held = ''
    story.doubted = False


def _decision(case: Case, story: _Story) -> tuple[int | None, str]:
    """
    Return the reply that decided, and words for it; no reply, and words for why there is none.

    That a block stays in the hand is decided by the last reply of all. Otherwise
    it is the last reply before what ended up where it counts was put down for the last time.
    """
    if isinstance(case.goal, Hold):
        last = story.replies[-1:]
        return (last[0] if last else None), (
            'the last reply' if last else 'No model was asked, so nobody decided'
        )
    put = [(call, name) for call, name in story.put if _counts(case, story, name)] or story.put
    if not put:
        return None, 'Nothing was put down, so nothing was decided'
    call, name = put[-1]
    before = [reply for reply in story.replies if reply < call]
    if not before:
        return None, f'No model was asked before {name} was put down'
    return before[-1], f'the reply that put {name} down'


def _counts(case: Case, story: _Story, name: str) -> bool:
    """Whether putting a block down commits to the final state."""
    if isinstance(case.goal, Tower):
        return story.last_z.get(name, 0.0) - story.start_z.get(name, 0.0) > ON_ANOTHER_M
    return all(spec.name != name or not spec.fixed for spec in case.table.objects)


def _weights(case: Case, story: _Story, decision: int, decided: str) -> Information:
    """All blocks must have been weighed: one left out could belong anywhere."""
    names = [item.name for item in case.table.movables]
    missing = [name for name in names if story.weighed.get(name, decision) >= decision]
    if not missing:
        return Information(needed='weights', holds=True, rule=WEIGHED)
    late = [name for name in missing if name in story.weighed]
    never = [name for name in missing if name not in story.weighed]
    told = [f'not weighed: {listed(never)}'] if never else []
    told += [f'weighed only after {decided}: {listed(late)}'] if late else []
    reason = '; '.join(told)
    return _lacking('weights', reason[0].upper() + reason[1:])


def _movable(case: Case, story: _Story, decision: int, decided: str) -> Information:
    """Of each block it must be known, or follow from the others, whether it can be moved."""
    specs = case.table.objects
    n_fixed = sum(spec.fixed for spec in specs)
    rose = {name for name, number in story.lifted.items() if number < decision}
    stuck = {name for name, number in story.stuck.items() if number < decision} - rose
    if len(rose | stuck) == len(specs):
        return Information(needed='movable', holds=True, rule=TRIED)
    if len(stuck) == n_fixed:
        return Information(needed='movable', holds=True, rule=REST_IS_MOVABLE)
    if len(rose) == len(specs) - n_fixed:
        return Information(needed='movable', holds=True, rule=REST_IS_FIXED)
    tried = len(rose | stuck) or 'none'
    later = ', the others later' if {*story.lifted, *story.stuck} - rose - stuck else ''
    return _lacking(
        'movable', f'Of {len(specs)} blocks, {tried} had been tried before {decided}{later}'
    )


def _lacking(needed: Needs, reason: str) -> Information:
    return Information(needed=needed, holds=False, reason=f'{reason}.')
