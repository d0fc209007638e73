"""Kinds of worlds differ in one place for planners: in their languages."""

import re
from pathlib import Path

from bbllm.planners.domains.languages import HOUSEHOLD, TABLETOP, language_of
from tests.planners.small_house import SmallHouse
from tests.planners.symbolic_table import busy_table

SOURCE = Path(__file__).resolve().parents[3] / 'src' / 'bbllm'
PLANNERS = SOURCE / 'bbllm' / 'planners'
COMPARED = re.compile(r'\bdomain\s*[!=]=\s*[\'"]?(tabletop|household)', re.IGNORECASE)


def test_no_code_or_template_compares_a_domain_outside_the_languages() -> None:
    files = [*SOURCE.glob('bbllm*/**/*.py'), *SOURCE.glob('bbllm*/**/*.j2')]
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in files
        if PLANNERS / 'domains' not in path.parents and COMPARED.search(path.read_text())
    ]

    assert len(files) > 500
    assert found == []


def test_each_kind_of_world_has_its_language() -> None:
    assert language_of(busy_table().observe()) is TABLETOP
    assert language_of(SmallHouse().observe()) is HOUSEHOLD


def test_templates_that_differ_are_there_for_each_language() -> None:
    folders = [
        path for path in SOURCE.glob('bbllm*/**/prompts') if (path / TABLETOP.name).is_dir()
    ]
    tables, houses = (
        [sorted(path.name for path in (folder / each.name).glob('*.j2')) for folder in folders]
        for each in (TABLETOP, HOUSEHOLD)
    )

    assert len(folders) > 3
    assert tables == houses
