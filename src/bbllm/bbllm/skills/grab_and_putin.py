"""The one skill that consists of two others."""

from collections.abc import Callable
from dataclasses import replace

from bbllm.core.errors import SceneError
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status
from bbllm.skills.conditions import halves_of, refusal


def grab_and_putin(
    call: SkillCall,
    observe: Callable[[], Scene],
    run: Callable[[SkillCall], Outcome],
    forbidden: Callable[[SkillCall, Scene], Outcome | None] = lambda call, scene: None,
) -> Outcome:
    """
    Carry out `grab_and_putin`: both halves, or only the second where the object is in the hand.

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
    thing = call.args[0]
    pick, place = halves_of(call)
    if scene.held != thing:
        picked = run(pick)
        if not picked.succeeded:
            message = f'The first half, {picked.call}, failed: {picked.message}'
            return replace(picked, call=call, message=message)
    placed = run(place)
    if placed.succeeded:
        return replace(placed, call=call)
    # The object was picked: that is something that was tried, even where nothing moved since.
    moved = scene.held != thing or placed.status is Status.FAILED
    return replace(
        placed,
        call=call,
        status=Status.FAILED if moved else Status.REJECTED,
        message=f'{thing} is picked, but the second half, {placed.call}, failed: {placed.message}',
    )
