"""`bbllm calibrate board`: prints the board."""

from pathlib import Path
from typing import Annotated

import typer

from bbllm.cli.support.options import JsonOption
from bbllm.cli.support.requests import option
from bbllm.cli.views.output import Output
from bbllm_vision.board import TagBoard
from bbllm_vision.board_print import Paper, in_mm, save_board

BoardFile = Annotated[
    Path,
    typer.Argument(metavar='FILE', help='What to write: a .pdf or .png file.', show_default=False),
]


def board(
    *,
    file: BoardFile,
    paper: Paper = option('The sheet that it is printed on.', default=Paper.A4),  # noqa: B008  # a name
    json: JsonOption = False,
) -> None:
    """
    Print the board of calibration in true size.

    Print the file at 100 %, glue it on a stiff, flat plate, and measure the
    squares: the calibration is off by as much as their length is.

    Examples:
      bbllm calibrate board board.pdf
      bbllm calibrate board board.pdf --paper letter
    """
    output, made = Output(json), TagBoard()
    path = save_board(file, made, paper)
    output.print_path('board', path)
    output.print(
        f'Print it at 100 % on {paper.value.upper()}. Then measure a row of {made.columns} '
        f'squares: it must be {in_mm(made.size_m[0])} long, a square {in_mm(made.square_m)}. '
        'Give another length of a square as --square-mm.'
    )
    output.result(
        {
            'file': str(path),
            'paper': paper.value,
            'columns': made.columns,
            'rows': made.rows,
            'square_mm': made.square_m * 1e3,
            'row_mm': made.size_m[0] * 1e3,
        }
    )
