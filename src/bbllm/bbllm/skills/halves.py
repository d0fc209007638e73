"""Skills that consist of two others: one that takes an object, and one that puts it down."""

from collections.abc import Callable
from dataclasses import replace

from bbllm.core.errors import SceneError
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.skills.motions import refusal
from bbllm.skills.skill import ArmSkill


def halves_of(skill: ArmSkill, call: SkillCall) -> tuple[SkillCall, ...]:
    """Return the calls that a checked call consists of; empty for most skills."""
    params = (f'{{{name}}}' for name in skill.signature.params)
    words = dict(zip(params, call.args, strict=True))
    return tuple(
        SkillCall(half.skill, tuple(words[arg] for arg in half.args)) for half in skill.halves
    )


def carry_out_halves(
    skill: ArmSkill,
    call: SkillCall,
    observe: Callable[[], Scene],
    run: Callable[[SkillCall], Outcome],
    forbidden: Callable[[SkillCall, Scene], Outcome | None] = lambda call, scene: None,
) -> Outcome:
    """
    Carry out both halves, or only the second where the object is in the hand.

    The message of a failure names the half. Neither is tried where the whole is *forbidden*.
    """
    try:
        scene = observe()
        call = check_call(call, scene)
    except CallError as error:
        return error.outcome
    except SceneError as error:
        return Outcome(
            call=call, status=Status.REJECTED, code=Code.STALE_SCENE, message=str(error)
        )
    if (outcome := forbidden(call, scene)) is not None:
        return outcome
    refused = refusal(call, scene)
    if refused is not None:
        return refused.outcome(call)
    name = call.args[0]
    taking, putting = halves_of(skill, call)
    if scene.held != name:
        taken = run(taking)
        if not taken.succeeded:
            message = f'The first half, {taken.call}, failed: {taken.message}'
            return replace(taken, call=call, message=message)
    put = run(putting)
    if put.succeeded:
        return replace(put, call=call)
    # The object was picked: that is something that was tried, even where nothing moved since.
    moved = scene.held != name or put.status is Status.FAILED
    return replace(
        put,
        call=call,
        status=Status.FAILED if moved else Status.REJECTED,
        message=f'{name} is picked, but the second half, {put.call}, failed: {put.message}',
    )
