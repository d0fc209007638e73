"""`grab_and_putin`: a pick, and then a place where the first thing is put in or on the second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bbllm.core.calls import CallError, check_call
from bbllm.core.errors import SceneError
from bbllm.core.types import Code, Outcome, Scene, SkillCall, Status


def grab_and_putin(
    call: SkillCall, observe: Callable[[], Scene], run: Callable[[SkillCall], Outcome]
) -> Outcome:
    """
    Carry out both halves, or only the second where the thing is in the hand already.

    Args:
        call: `grab_and_putin(obj1, obj2)`.
        observe: Returns the scene as it is now; may raise SceneError.
        run: Carries out one half to its end.

    Returns:
        What happened to the whole; of a failure, the message names the half.
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
    thing, container = call.args
    if thing == container:
        return Outcome(
            call=call,
            status=Status.REJECTED,
            code=Code.BAD_ARGUMENTS,
            message=f'{thing} cannot be put into itself; name something to put it in or on.',
        )
    if scene.held != thing:
        picked = run(SkillCall('pick', (thing,)))
        if not picked.succeeded:
            message = f'The first half, {picked.call}, failed: {picked.message}'
            return replace(picked, call=call, message=message)
    placed = run(SkillCall('place', (container,)))
    if placed.succeeded:
        return replace(placed, call=call)
    # The thing was picked: that is something that was tried, even where nothing moved since.
    moved = scene.held != thing or placed.status is Status.FAILED
    return replace(
        placed,
        call=call,
        status=Status.FAILED if moved else Status.REJECTED,
        message=f'{thing} is picked, but the second half, {placed.call}, failed: {placed.message}',
    )
