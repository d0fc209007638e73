"""Checks of this machine for `bbllm doctor`; each is a function that returns findings."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.findings import Finding, Level, fail, ok, warn
from bbllm.core.paths import config_dir, episodes_dir, state_dir
from bbllm.core.plugins import how_to_install, installed
from bbllm_viewer.commands.browser import PACKAGES as PAGE_PACKAGES
from bbllm_viewer.commands.browser import missing_packages

if TYPE_CHECKING:
    from bbllm_ros.stack.client import StackClient
    from bbllm_ros.stack.discovery import FoundStack

IMPORT_S = 30.0
"""Time limit of a trial in a separate process, wall clock [s]."""
FIRST_S = 5.0
"""How long the first stack may take to be found, wall clock [s]."""
ALL_S = 3.5
"""How long no other node may appear before the stacks count as all that there are: longer than the
3 s between two announcements of a program, wall clock [s]."""
OTHERS_S = 10.0
"""How long the others may take where one was found, wall clock [s]."""
PACKAGES = ('mujoco', 'mink', 'ruckig', 'numpy', 'yaml', 'pydantic', 'jinja2', 'openai', 'PIL')

CLASHES = (
    ('reliability', 'RELIABLE', 'BEST_EFFORT'),
    ('durability', 'TRANSIENT_LOCAL', 'VOLATILE'),
)
"""Qualities of service with which a subscriber gets no messages of a publisher."""


def check_python() -> Finding:
    text = f'{platform.python_version()} at {sys.executable}'
    if (3, 11) <= sys.version_info < (3, 13):
        return ok('python', text)
    return fail('python', text, 'Use Python 3.11 or 3.12.')


def check_packages() -> Finding:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return fail('packages', f'missing: {", ".join(missing)}', 'Run: make setup')
    try:
        mujoco = importlib.import_module('mujoco')
    except ImportError as error:
        return fail('packages', f'MuJoCo does not load: {error}', 'Run: make setup')
    return ok('packages', f'all there; MuJoCo {mujoco.__version__}')


def check_config() -> Finding:
    try:
        return ok('config', str(config_dir()))
    except BbllmError as error:
        return fail('config', str(error), 'Run: make setup')


def check_state() -> Finding:
    """Write a file where journals go."""
    folder = state_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ok('journals', str(episodes_dir()))
    except OSError as error:
        text = f'{folder} cannot be written to: {error.strerror}'
        return fail('journals', text, 'Set XDG_STATE_HOME to a folder that can.')


def check_models() -> list[Finding]:
    from bbllm.llm.models.factory import load_config, probe_models

    try:
        results = probe_models(load_config())
    except BbllmError as error:
        return [fail('models', str(error), 'Mend config/llm.yaml.')]
    return [
        ok(found.role, found.sentence)
        if found.ok
        else fail(found.role, found.sentence, f'Or go on without: --{found.role} offline')
        for found in results
    ]


def check_local_servers(ports: Mapping[str, int] | None = None) -> list[Finding]:
    """Look for model servers of this machine, each with the command that uses it."""
    from bbllm.llm.openai.local import PORTS, local_servers

    ports = PORTS if ports is None else ports
    if found := local_servers(ports):
        return [ok('local', server.sentence, server.use) for server in found]
    looked = ', '.join(f'{name} ({port})' for name, port in ports.items())
    return [ok('local', f'no model server on this machine: {looked}')]


def check_compilers() -> Finding:
    """Check for what building the interface packages needs."""
    tools = {'c++': 'g++', 'cmake': 'cmake', 'colcon': ''}
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ.get("PATH", os.defpath)}'
    missing = [tool for tool in tools if shutil.which(tool, path=path) is None]
    packages = [tools[tool] for tool in missing if tools[tool]]
    if not (Path(sysconfig.get_paths()['include']) / 'Python.h').exists():
        missing.append('Python.h')
        packages.append(f'python3.{sys.version_info[1]}-dev')
    if not missing:
        return ok('build', 'C++ compiler, CMake, colcon and Python headers')
    remedy = f'apt install {" ".join(packages)}' if packages else 'Run: make setup'
    return warn('build', f'missing: {", ".join(missing)}', remedy)


def check_rendering() -> Finding:
    """Try each way to render without a display, in a separate process: GL can crash."""
    for backend in ('egl', 'osmesa'):
        code = 'import mujoco; mujoco.GLContext(16, 16).make_current()'
        if _python(code, MUJOCO_GL=backend) is None:
            return ok('rendering', f'MuJoCo renders off screen with {backend}')
    text = 'neither EGL nor OSMesa works: drawings are made, renderings are not'
    return warn('rendering', text, 'apt install libegl1 libgl1-mesa-dri, or libosmesa6')


def check_display() -> Finding:
    """Check for a display, which only the viewer needs."""
    name = os.environ.get('WAYLAND_DISPLAY') or os.environ.get('DISPLAY')
    return ok('display', name or 'none; only --viewer needs one')


def check_page() -> Finding:
    """Check for what serves a page, which only the console needs."""
    missing = missing_packages()
    if missing:
        text = f'missing: {", ".join(missing)}; only bbllm console and --browser need them'
        return ok('page', text, f'{how_to_install("console")}.')
    return ok('page', f'there: {", ".join(PAGE_PACKAGES)}')


def check_plugins() -> Iterator[Finding]:
    """Yield what other packages add, of each kind, and why some of it is left out."""
    from bbllm.core.registry import GROUP as PLANNERS
    from bbllm.core.registry import load_planner
    from bbllm.robots.registry import GROUP as ROBOTS
    from bbllm.robots.registry import load_robot
    from bbllm.skills.catalog import GROUP as SKILLS
    from bbllm.skills.catalog import load_skills, own_skills

    skills, faults = load_skills(installed(SKILLS))
    yield _brought('skills', [*skills][len(own_skills()) :], faults)
    kinds: tuple[tuple[str, str, Callable[[str], object]], ...] = (
        ('robots', ROBOTS, load_robot),
        ('planners', PLANNERS, load_planner),
    )
    for kind, group, load in kinds:
        names, wrong = [], []
        for name in sorted({item.name for item in installed(group) if item.package != 'bbllm'}):
            try:
                load(name)
                names.append(name)
            except BbllmError as error:
                wrong.append(str(error))
        yield _brought(kind, names, wrong)


def _brought(kind: str, names: Sequence[str], faults: Sequence[str]) -> Finding:
    text = f'from other packages: {", ".join(names) or "none"}'
    return warn(kind, '. '.join((text, ' '.join(faults)))) if faults else ok(kind, text)


def check_ros() -> list[Finding]:
    spec = importlib.util.find_spec('rclpy')
    if spec is None or spec.origin is None:
        sourced = Path('/opt/ros/jazzy/setup.sh')
        remedy = f'. {sourced}' if sourced.exists() else 'make setup, then . ./activate'
        text = 'none; `bbllm demo` needs none, `bbllm up` and `bbllm run` do'
        return [warn('ros', text, remedy)]
    kind = 'from PyPI' if 'site-packages' in spec.origin else "the system's"
    distro = os.environ.get('ROS_DISTRO', 'jazzy' if 'PyPI' in kind else 'unknown distribution')
    found = ok('ros', f'{distro}, {kind}: {Path(spec.origin).parent}')
    interfaces = ok('interfaces', 'bbllm_interfaces is built')
    if fault := _python('import bbllm_ros.stack.client'):
        text = f'bbllm_interfaces is not built, or older than bbllm_ros: {fault}'
        interfaces = warn('interfaces', text, 'make setup (or colcon build), then . ./activate')
    return [found, check_middleware(), interfaces]


def check_middleware(wrong: Callable[[str, str, str], Finding] = warn) -> Finding:
    """Join a graph with the middleware that nodes use, and report how far discovery reaches."""
    from bbllm_ros.rclpy_support import dds_boundary as dds
    from bbllm_ros.rclpy_support.domains import domain_of
    from bbllm_ros.stack.stack import node_environ

    environ = node_environ()
    source = f'${dds.RMW}' if dds.RMW in os.environ else 'the default of bbllm'
    text = f'{environ[dds.RMW]}, {source}'
    try:
        text += f', domain {domain_of(environ)}'
    except ConfigError as error:
        return wrong('rmw', str(error), '')
    if (fault := joins()) is not None:
        remedy = 'In a new shell: . ./activate. For another middleware, install its package.'
        return wrong('rmw', f'{text}, does not work: {fault}', remedy)
    if environ.get(dds.RANGE) == 'OFF':
        remedy = 'No node finds another one: unset ROS_AUTOMATIC_DISCOVERY_RANGE.'
        return wrong('rmw', text, remedy)
    reach = f'this machine only ({dds.NETWORK}=true opens it to others)'
    if dds.has_own_profile(environ):
        reach = f'profile {environ[dds.FILE]}'
    elif dds.wants_network(environ):
        reach = f'open to the network ({dds.NETWORK}=true)'
    return ok('rmw', f'{text}, {reach}')


def joins() -> str | None:
    """Join a graph in a separate process; return the error, None if it works."""
    from bbllm_ros.stack.stack import node_environ

    code = 'import rclpy; rclpy.init(); rclpy.shutdown()'
    return _python(code, RMW_IMPLEMENTATION=node_environ()['RMW_IMPLEMENTATION'])


def _python(code: str, **environment: str) -> str | None:
    """Run a trial in a separate process; return the last line of its error, None if it works."""
    from bbllm_ros.rclpy_support.dds_boundary import bounded

    try:
        done = subprocess.run(
            [sys.executable, '-c', code],
            env=bounded({**os.environ, **environment}),
            capture_output=True,
            text=True,
            timeout=IMPORT_S,
        )
    except subprocess.TimeoutExpired:
        return f'it hangs for {IMPORT_S:g} s'
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f'exit code {done.returncode}'])[-1]


def check_stack(namespace: str | None) -> list[Finding]:
    """
    Return what is found of the stacks in this domain, None: of all; the demo needs none.

    Whether publishers and subscribers match is a finding of each topic.
    """
    from bbllm.api.ros_environment import missing_ros

    # Where the middleware does not load, rcl ends the whole process: first try it in another.
    if missing_ros() or joins():
        return []
    try:
        from bbllm_ros.rclpy_support.own_nodes import join_stack
        from bbllm_ros.stack.client import StackClient
        from bbllm_ros.stack.discovery import SEE_THERE, await_stacks
    except ImportError:  # `check_ros` reports it
        return []
    try:
        with join_stack(namespace or NAMESPACE) as own:
            looker = own.join(f'bbllm_doctor_looks_{os.getpid()}', '/')
            names = looker.get_node_names_and_namespaces
            stacks = await_stacks(names, namespace, FIRST_S, settle_s=ALL_S)
        if not stacks:
            where = 'here' if namespace is None else f'under /{namespace}'
            return [ok('stack', f'none runs {where}; `bbllm up sim` starts a simulated one')]
        findings = []
        for stack in stacks:
            with StackClient(stack.namespace, name='bbllm_doctor') as client:
                findings += _observe(client, stack)
        return findings
    except BbllmError as error:
        return [warn('stack', str(error), SEE_THERE)]


def _observe(client: StackClient, stack: FoundStack) -> list[Finding]:
    from bbllm_ros.stack.discovery import SEE_THERE
    from bbllm_ros.stack.stack import PERCEPTION

    end_s = time.monotonic() + OTHERS_S
    while (missing := client.missing(stack.nodes)) and time.monotonic() < end_s:
        time.sleep(0.1)
    where = f'under /{stack.namespace}, {stack.robot}'
    if missing:
        text = f'not all of it runs {where}; missing: {", ".join(missing)}'
        return [warn('stack', text, SEE_THERE)]
    findings = [ok('stack', f'runs {where}: {", ".join(stack.nodes)}')]
    for topic, _ in sorted(client.node.get_topic_names_and_types()):
        if topic.startswith((f'/{stack.namespace}/', '/tf')):
            findings.extend(_check_topic(client.node, topic))
    if PERCEPTION in client.node.get_node_names():
        findings.extend(_check_cameras(client.node))
    return findings


def _check_cameras(node: Any) -> Iterator[Finding]:
    """Yield what the node `perception` reports of its cameras."""
    from diagnostic_msgs.msg import DiagnosticArray

    from bbllm_ros.convert.camera_status import TOPIC, faults_from_msg
    from bbllm_ros.convert.records import LATCHED

    received = SimpleQueue[DiagnosticArray]()
    node.create_subscription(DiagnosticArray, TOPIC, received.put, LATCHED)
    try:
        yield from judge_cameras(faults_from_msg(received.get(timeout=FIRST_S)))
    except Empty:
        yield warn('camera', f'perception has sent no {TOPIC}', 'See its log.')


def judge_cameras(
    faults: Mapping[str, str], wrong: Callable[[str, str, str], Finding] = warn
) -> Iterator[Finding]:
    """Yield what keeps the pictures of each camera from being used, or that nothing does."""
    for name, fault in faults.items():
        if fault:
            yield wrong('camera', fault, 'See docs/perception.md.')
        else:
            yield ok('camera', f'the pictures of {name} are used')


def _check_topic(node: Any, topic: str) -> list[Finding]:
    givers = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    takers = [info.qos_profile for info in node.get_subscriptions_info_by_topic(topic)]
    if not givers:
        return []
    kinds = {f'{q.reliability.name.lower()}, {q.durability.name.lower()}' for q in givers}
    text = f'{topic}: {" / ".join(sorted(kinds))}; {len(givers)} publish, {len(takers)} listen'
    if clashes := {
        f'a subscriber wants {wanted}, a publisher sends {sent}'
        for policy, wanted, sent in CLASHES
        if any(getattr(take, policy).name == wanted for take in takers)
        and any(getattr(give, policy).name == sent for give in givers)
    }:
        return [warn('qos', f'{text}; {"; ".join(sorted(clashes))}', 'Messages are lost.')]
    return [ok('qos', text)]


def check_machine(namespace: str | None, on_progress: Callable[[str], None]) -> Iterator[Finding]:
    """Yield the findings as they are made: first of what the demo needs, then of ROS."""
    packages = check_packages()
    yield from (check_python(), packages, check_config(), check_state())
    yield from check_models()
    yield from check_local_servers()
    for check in (check_rendering, check_display, check_page, check_compilers):
        yield check()
    if packages.level is Level.OK:  # robots and skills import them
        yield from check_plugins()
    yield from check_ros()
    yield from check_stack(namespace)
