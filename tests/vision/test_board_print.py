"""The printed sheet has its true size, and the board on it is the one that is looked for."""

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from bbllm.core.errors import ConfigError
from bbllm.scene.camera import Intrinsics
from bbllm_vision.board import BoardSighting, TagBoard, find_board
from bbllm_vision.board_print import PX_PER_MM, SHEETS_MM, Paper, save_board, sheet

PAPERS = pytest.mark.parametrize('paper', list(Paper))


@PAPERS
def test_a_scan_of_the_sheet_measures_the_squares(paper: Paper) -> None:
    board = TagBoard()
    page = sheet(board, paper).convert('L')
    width_mm, height_mm = SHEETS_MM[paper]
    scan = np.asarray(
        page.resize((round(width_mm * 4), round(height_mm * 4)), Image.Resampling.BOX)
    )
    middle = Intrinsics(
        width_px=scan.shape[1],
        height_px=scan.shape[0],
        fx_px=1000.0,
        fy_px=1000.0,
        cx_px=scan.shape[1] / 2 - 0.5,
        cy_px=scan.shape[0] / 2 - 0.5,
    )
    found = find_board(cv2.cvtColor(scan, cv2.COLOR_GRAY2RGB), middle, board)
    assert isinstance(found, BoardSighting)
    assert len(found.corners_px) == board.corner_count
    corners_mm = found.corners_px / 4.0
    across_mm = np.diff(corners_mm.reshape(board.rows - 1, board.columns - 1, 2), axis=1)
    assert np.abs(across_mm - np.array([board.square_m * 1e3, 0.0])).max() < 0.1
    # Seen from straight above, the middle of the sheet is that of the board.
    assert np.abs(corners_mm.mean(axis=0) - np.array([width_mm, height_mm]) / 2).max() < 0.2


@PAPERS
def test_a_printer_gets_the_size_of_the_paper(paper: Paper, tmp_path: Path) -> None:
    pdf = save_board(tmp_path / 'board.pdf', TagBoard(), paper).read_bytes()
    box = re.search(rb'/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]', pdf)
    assert box is not None
    points = [float(length) for length in box.groups()]
    assert points == pytest.approx([mm / 25.4 * 72 for mm in SHEETS_MM[paper]], abs=0.01)
    with Image.open(save_board(tmp_path / 'board.png', TagBoard(), paper)) as png:
        assert png.info['dpi'] == pytest.approx((PX_PER_MM * 25.4,) * 2, rel=1e-5)
        assert png.size == tuple(round(mm * PX_PER_MM) for mm in SHEETS_MM[paper])


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'must end with \.pdf or \.png'):
        save_board(tmp_path / 'board.jpg', TagBoard(), Paper.A4)
    with pytest.raises(ConfigError, match='cannot be written'):
        save_board(tmp_path / 'missing' / 'board.pdf', TagBoard(), Paper.A4)
