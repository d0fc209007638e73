"""`bbllm scenes`: which scenes and houses there are."""

from bbllm.cli.support.options import JsonOption
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError, SceneFileError


def scenes(json: JsonOption = False) -> None:
    """List the scenes and houses that a task can start with."""
    from bbllm.scene.scene_file import list_scenes, load_scene

    output = Output(json)
    found: dict[str, dict[str, object]] = {}
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
    houses = _houses()
    width = max((len(name) for name in (*found, *houses)), default=0)
    if not json:
        for name, entry in found.items():
            output.print(f'{name:<{width}}  {entry["description"]}')
        output.print('\nHouses, for --house:')
        for name, entry in houses.items():
            output.print(f'{name:<{width}}  {entry["description"]}')
    output.result({**found, **houses})


def _houses() -> dict[str, dict[str, object]]:
    from bbllm.worlds.household.houses import list_houses, load_house

    found: dict[str, dict[str, object]] = {}
    for name in list_houses():
        try:
            house = load_house(name)
            found[name] = {
                'description': house.description,
                'rooms': list(house.rooms),
                'things': len(house.graph.nodes) - len(house.rooms),
            }
        except ConfigError as error:
            found[name] = {'description': f'cannot be used: {error}'}
    return found
