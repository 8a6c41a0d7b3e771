"""Flag types: their expected lifetimes."""

import msgspec
from msgspec.structs import replace

from sigservice.db import Row
from sigservice.repository.projects import feature_types
from sigservice.services.definitions import DefinitionKind
from sigservice.services.problems import Problems

MAX_DAYS = 100_000


class Lifetime(msgspec.Struct, rename="camel"):
    """With 0 or null, flags of this type never become stale by age."""

    lifetime_days: int | None


class FeatureType(Lifetime):
    id: str


def check(item: FeatureType, problems: Problems) -> FeatureType:
    if item.lifetime_days is not None and not 0 <= item.lifetime_days <= MAX_DAYS:
        text = f"lifetimeDays must be a whole number from 0 to {MAX_DAYS}."
        problems.add("lifetimeDays", text)
    return replace(item, lifetime_days=item.lifetime_days or None)


def to_json(row: Row) -> dict[str, str | int | None]:
    return {
        "id": row["id"],
        "name": row["name"],
        "description": row["description"],
        "lifetimeDays": row["lifetime_days"],
    }


KIND = DefinitionKind(
    "Flag type", "feature-type", FeatureType, feature_types, check, to_json, key="id"
)
get, update = KIND.get, KIND.update
