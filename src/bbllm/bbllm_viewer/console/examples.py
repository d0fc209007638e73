"""Sentences to begin with, for a person who sees a scene for the first time."""

from bbllm.core.types import Kind, Scene


def examples_of(scene: Scene) -> tuple[str, ...]:
    """Return tasks and a question that name what can be reached; none where there are no cubes."""
    near = [x for x in scene.objects if not scene.has(x.name, 'reachable', 'no')]
    cubes = [item.name.replace('_', ' ') for item in near if item.kind is Kind.CUBE]
    places = [item.name for item in near if item.kind is Kind.LOCATION]
    if len(cubes) < 3:
        return ()
    first, second, third = cubes[:3]
    return (
        *(f'put the {first} on {place}' for place in places[:1]),
        f'stack the {second} on the {first}',
        f'build a tower of the {first}, the {second} and the {third}',
        'put all the cubes in a row',
        'which objects can you reach?',
    )
