"""The language of each domain."""

from bbllm.core.types import Scene
from bbllm.planners.domains.household.language import HouseholdLanguage
from bbllm.planners.domains.language import DomainLanguage
from bbllm.planners.domains.tabletop.language import TabletopLanguage

TABLETOP, HOUSEHOLD = TabletopLanguage(), HouseholdLanguage()
_BY_DOMAIN: dict[str, DomainLanguage] = {each.name: each for each in (TABLETOP, HOUSEHOLD)}


def language_of(scene: Scene) -> DomainLanguage:
    """Return the language for a scene; a world of another kind is written of as a table."""
    return _BY_DOMAIN.get(scene.domain, TABLETOP)
