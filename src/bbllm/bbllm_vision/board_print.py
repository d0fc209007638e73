"""The board of calibration on a sheet of paper, in true size."""

import io
from enum import StrEnum
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from bbllm.core.errors import ConfigError
from bbllm.core.paths import write_whole
from bbllm_vision.board import TagBoard

PX_PER_MM = 20
"""508 dots per inch: every edge of a square of whole millimetres lies between two pixels."""
MM_PER_INCH = 25.4
SUFFIXES = ('.pdf', '.png')
TEXT_MM = 3.5


class Paper(StrEnum):
    """Sheets that the board fits on."""

    A4 = 'a4'
    LETTER = 'letter'


SHEETS_MM = {Paper.A4: (297.0, 210.0), Paper.LETTER: (279.4, 215.9)}
"""Width and height of a sheet on its side: ISO 216, ANSI/ASME Y14.1 [mm]."""


def save_board(path: Path, board: TagBoard, paper: Paper) -> Path:
    """
    Write a sheet with the board as a PDF or PNG file that prints in true size.

    Raises:
        ConfigError: The name ends with neither `.pdf` nor `.png`, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f'{path} is no name for a board: it must end with {" or ".join(SUFFIXES)}.'
        )
    file = io.BytesIO()
    resolution = PX_PER_MM * MM_PER_INCH
    # Pillow's writers take these by different names.
    settings = {'resolution': resolution} if suffix == '.pdf' else {'dpi': (resolution,) * 2}
    sheet(board, paper).save(file, format=suffix[1:].upper(), **settings)
    try:
        write_whole(path, file.getvalue())
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f'The board {path} cannot be written ({reason}).') from error
    return path


def sheet(board: TagBoard, paper: Paper) -> Image.Image:
    """Draw the board in the middle of a sheet of `PX_PER_MM`, with what to measure below it."""
    width_px, height_px = (round(length * PX_PER_MM) for length in SHEETS_MM[paper])
    squares = Image.fromarray(
        (board.picture(round(board.square_m * 1e3 * PX_PER_MM)) > 127).astype(np.uint8) * 255
    )
    page = Image.new('1', (width_px, height_px), 1)
    left, top = (width_px - squares.width) // 2, (height_px - squares.height) // 2
    page.paste(squares, (left, top))
    text = (
        f'bbllm calibration board: {board.columns} x {board.rows} squares, DICT_4X4_50. Print at '
        f'100 %, not fitted to the page: a square must measure {in_mm(board.square_m)}, all '
        f'{board.columns} of a row {in_mm(board.size_m[0])}.'
    )
    font = ImageFont.load_default(TEXT_MM * PX_PER_MM)
    middle = (width_px // 2, (top + squares.height + height_px) // 2)
    ImageDraw.Draw(page).text(middle, text, fill=0, font=font, anchor='mm')
    return page


def in_mm(length_m: float) -> str:
    """Return a length as it is measured on paper."""
    return f'{length_m * 1e3:.1f} mm'
