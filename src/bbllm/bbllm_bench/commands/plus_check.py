"""Whether the cubes of `bbllm demo` form a plus sign in the end."""

from bbllm.cli.support.session import Ran
from bbllm.core.events import Ending
from bbllm.core.types import Kind, Scene
from bbllm_bench.scorers.patterns import check_plus
from bbllm_viewer.viz.sheet import scenes_of


def check_plus_sign(ran: Ran) -> tuple[bool, str]:
    """
    Return whether the settled cubes form a plus sign, and the finding as a sentence.

    Nothing is checked, and '' is the finding, where the episode did not finish.
    """
    if ran.episode.ending is not Ending.FINISHED:
        return True, ''
    settled = ran.settled
    scene = settled.scene if settled else scenes_of(ran.episode).get('after')
    if scene is None:
        return False, 'Check: the scene at the end is not on record.'
    passed, finding = _check(scene)
    if settled is None or settled.seen is None:
        return passed, finding
    seen, _ = _check(settled.seen)
    return passed, f'{finding} By pictures alone: {"a" if seen else "no"} plus sign.'


def _check(scene: Scene) -> tuple[bool, str]:
    cubes = [item for item in scene.objects if item.kind is Kind.CUBE]
    if not cubes:
        return False, 'Check: there are no cubes in the scene.'
    reason, fit = check_plus({item.name: item.pose for item in cubes}, cubes[0].size_m[0])
    if reason or fit is None:
        return False, f'Check of the settled poses: no plus sign; {reason}'
    return True, (
        f'Check of the settled poses: a plus sign of {len(fit.names)} cubes around '
        f'{fit.names[0]}, arms {fit.pitch_m * 100:.1f} cm, '
        f'no cube more than {fit.residual_m * 1000:.1f} mm off.'
    )
