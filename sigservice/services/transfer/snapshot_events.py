"""The data of the events of a snapshot's items."""

from typing import Any

import msgspec
from msgspec.structs import replace

from sigservice.services.definitions import merge
from sigservice.services.flags.features import Metadata
from sigservice.services.transfer.snapshots import Feature, Project, get_name

Event = dict[str, Any]


def get_own_fields(item: Any) -> Any:
    """The item without fields that never change or are stored elsewhere."""
    if isinstance(item, Project):
        return replace(item, environments=[])
    if hasattr(item, "createdAt"):
        return replace(item, createdAt=None, createdBy=None)
    return item


def build_event(item: Any, kind: str) -> Event:
    data = msgspec.to_builtins(get_own_fields(item))
    if kind in ("environment", "project"):
        return {"data": data, kind: get_name(item)}
    return {"data": data} | ({"project": data["project"]} if kind == "segment" else {})


def get_metadata(item: Feature) -> Event:
    metadata = msgspec.to_builtins(merge(Metadata(), item))
    return {"name": item.name, "project": item.project, **metadata}


def build_feature_event(item: Feature) -> Event:
    return {"project": item.project, "feature_name": item.name, "data": get_metadata(item)}
