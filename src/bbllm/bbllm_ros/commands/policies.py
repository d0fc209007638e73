"""`bbllm policies`: writes the policies of SROS 2 for a namespace."""

from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm.core.constants import REAL_NAMESPACE, checked_namespace


def policies(
    out: Annotated[
        Path, typer.Option('--out', metavar='DIR', help='Where to write them; made if needed.')
    ],
    namespace: str = option(
        'ROS namespace of the stack.', default=REAL_NAMESPACE, callback=checked_namespace
    ),
    json: JsonOption = False,
) -> None:
    """
    Write the policies of SROS 2 for the processes of a stack.

    Those for the namespace `bbllm` are in config/sros2. What to do with them:
    docs/security.md. The policies of a real arm leave out the simulator.

    Examples:
      bbllm policies --out policies
      bbllm policies --namespace lab/left_arm --out policies
    """
    from bbllm_ros.stack.namespaced_files import write_policies

    output = Output(json)
    files = write_policies(namespace, out.expanduser())
    output.print(f'{len(files)} policies for /{namespace}')
    output.print_path('folder', out)
    output.result({'namespace': namespace, 'files': [str(path) for path in files]})
