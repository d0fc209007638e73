"""Checks of `bbllm doctor` of cameras with depth."""

from collections.abc import Callable, Iterator

from bbllm_ros.checks.machine import Finding, ok, warn
from bbllm_vision.camera_report import CameraReport

LEAST_RATE_HZ = 5.0
LEAST_SHARE = 0.3
"""The default of the parameter least_depth_share of perception."""
NAME = 'camera'
DOCS = 'docs/perception.md'
ALIGNED = 'Start its driver with align_depth.enable:=true (realsense2_camera).'


def judge_camera(
    report: CameraReport, judge: Callable[[str, str, str], Finding] = warn
) -> Iterator[Finding]:
    """Yield what is wrong with a camera, by *judge*, or that nothing is."""
    faults = list(_faults(report, judge))
    if faults:
        yield from faults
        return
    assert report.size_px and report.intrinsics and report.pose  # otherwise there is a fault
    width, height = report.size_px
    x, y, z = report.pose.position_m
    yield ok(
        NAME,
        f'{report.name}: {report.rate_hz:.0f} Hz, {width} x {height}, '
        f'fx {report.intrinsics.fx_px:.0f} fy {report.intrinsics.fy_px:.0f} px, '
        f'depth registered, known at {report.depth_share:.0%} of the pixels; '
        f'at {x:.3f} {y:.3f} {z:.3f} in fr3_link0',
    )


def _faults(report: CameraReport, judge: Callable[[str, str, str], Finding]) -> Iterator[Finding]:
    name = report.name
    if report.unpublished:
        topics = ', '.join(report.unpublished)
        depth_only = all('aligned_depth' in topic for topic in report.unpublished)
        remedy = ALIGNED if depth_only else f'Start the driver of the camera; see {DOCS}.'
        yield judge(NAME, f'{name}: no node publishes {topics}', remedy)
    if report.silent:
        text = f'{name}: nothing came on {", ".join(report.silent)}'
        yield judge(NAME, text, 'Check its cable, and start its driver again.')
    if report.fault:
        yield judge(NAME, f'{name}: {report.fault}', f'See {DOCS}.')
    yield from _faults_of_pictures(report, judge)
    if report.pose_fault:
        remedy = f'Publish the calibrated pose of the camera on /tf_static; see {DOCS}.'
        yield judge(NAME, f'{name}: {report.pose_fault}', remedy)


def _faults_of_pictures(
    report: CameraReport, judge: Callable[[str, str, str], Finding]
) -> Iterator[Finding]:
    name, size, depth_size = report.name, report.size_px, report.depth_size_px
    if size is None:
        return
    if report.rate_hz < LEAST_RATE_HZ:
        text = f'{name}: {report.rate_hz:.1f} pictures a second; {LEAST_RATE_HZ:g} are needed'
        yield judge(NAME, text, 'Is this machine overloaded, or the camera on USB 2?')
    if report.intrinsics is not None:
        known = (report.intrinsics.width_px, report.intrinsics.height_px)
        if known != size:
            text = f'{name}: pictures of {_of(size)}, and a camera_info of {_of(known)}'
            yield judge(NAME, text, 'Start its driver again; both must have one size.')
    if depth_size is None:
        return
    if depth_size != size or report.depth_frame != report.frame:
        text = (
            f'{name}: depth of {_of(depth_size)} in {report.depth_frame!r} is not registered to '
            f'colour of {_of(size)} in {report.frame!r}'
        )
        yield judge(NAME, text, ALIGNED)
    if report.depth_share < LEAST_SHARE:
        text = f'{name}: depth is known at {report.depth_share:.0%} of the pixels'
        yield judge(NAME, text, 'Uncover its lenses; the table must be 0.3 m to 3 m away.')


def _of(size_px: tuple[int, int]) -> str:
    return f'{size_px[0]} x {size_px[1]}'
