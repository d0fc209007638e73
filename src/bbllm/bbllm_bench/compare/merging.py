"""Puts the shards of a comparison into one folder, and compares the planners anew."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from bbllm.core.errors import ConfigError
from bbllm_bench.compare.choice import folder_name
from bbllm_bench.compare.figures import PlannerComparison
from bbllm_bench.compare.files import COMPARE, claim, compare_folder
from bbllm_bench.log.files import read_json
from bbllm_bench.log.merging import Merge, check_empty
from bbllm_bench.log.store import RunFolder
from bbllm_bench.report.write import finish


def is_comparison(folder: Path) -> bool:
    """Return whether a folder is one of `bbllm bench compare`."""
    return (folder / COMPARE).exists()


def merge_comparisons(
    folders: Sequence[Path], out: Path, *, allow_missing: bool = False
) -> PlannerComparison | None:
    """
    Merge the shards of a comparison into a new folder, planner by planner.

    Nothing is written before all planners can be merged. Returns None where no episode is on
    record.

    Raises:
        ConfigError: As of `Merge`; or the shards compare other planners.
    """
    first, *others = [_read(folder) for folder in folders]
    planners = [row.planner for row in first.planners]
    for folder, other in zip(folders[1:], others, strict=True):
        if (names := [row.planner for row in other.planners]) != planners:
            raise ConfigError(
                f'{folders[0]} and {folder} compare other planners: {", ".join(planners)}, and '
                f'{", ".join(names)}. Play all shards with the same --planners.'
            )
    check_empty(out)
    merges = {
        name: Merge.of([folder / name for folder in folders], allow_missing=allow_missing)
        for name in map(folder_name, planners)
    }
    claim(out)
    for name, merge in merges.items():
        merge.write(out / name)
        with RunFolder(out / name) as run:
            finish(run, report=False)
    return compare_folder(out, planners, left_out=first.left_out)


def _read(folder: Path) -> PlannerComparison:
    try:
        return PlannerComparison.model_validate(read_json(folder / COMPARE))
    except (ConfigError, ValidationError) as error:
        raise ConfigError(
            f'{folder} has no figures of a comparison of this version of bbllm yet. Run the same '
            '`bbllm bench compare` again, which writes them.'
        ) from error
