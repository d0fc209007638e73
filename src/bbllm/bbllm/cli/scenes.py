"""`bbllm scenes`: which scenes there are."""

from __future__ import annotations

from bbllm.cli.choices import JsonOption
from bbllm.cli.output import Output
from bbllm.core.errors import SceneFileError


def scenes(json: JsonOption = False) -> None:
    """List the scenes that a task can start with."""
    from bbllm.sim.scenes import list_scenes, load_scene

    output = Output(json)
    found = {}
    for name in list_scenes():
        try:
            scene = load_scene(name)
            found[name] = {
                'description': scene.description,
                'objects': [item.name for item in scene.movables],
                'locations': [item.name for item in scene.places],
            }
        except SceneFileError as error:
            # One bad file must not hide the good ones.
            found[name] = {'description': f'cannot be used: {error}'}
    width = max((len(name) for name in found), default=0)
    if not json:
        for name, entry in found.items():
            output.say(f'{name:<{width}}  {entry["description"]}')
    output.result(found)
