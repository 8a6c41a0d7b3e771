"""Reads the files of `sigservice apply` (docs/flags-as-code.md), as JSON, into the structs of
snapshots. Knows the notation and nothing of what exists."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import msgspec

from sigservice.services.problems import Problems
from sigservice.services.projects.context_fields import ContextField
from sigservice.services.projects.environments import Environment
from sigservice.services.projects.projects import DEFAULT
from sigservice.services.projects.strategy_types import StrategyType
from sigservice.services.projects.tag_types import TagType
from sigservice.services.transfer.snapshot_import import restore_path
from sigservice.services.transfer.snapshots import Feature, Project, SegmentDefinition, Snapshot
from sigservice.services.unknown_members import list_unknown

MAX_FLAGS = 10_000
ROLLOUT_MEMBERS = ("rollout", "stickiness", "groupId")
_LATER = ("signalEndpoints", "actionSets")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
Members = dict[str, Any]


class Kind(NamedTuple):
    """Of items: `member` is the list of a snapshot. `attributes` are the attributes of the struct
    by the members of the file."""

    label: str
    member: str
    struct: type[msgspec.Struct]
    attributes: Mapping[str, str]
    key: str = "name"


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


KINDS = {
    "environments": Kind(
        "environment",
        "environments",
        Environment,
        _same("type", "enabled") | {"order": "sort_order"},
    ),
    "projects": Kind(
        "project",
        "projects",
        Project,
        _same("name", "description", "environments") | {"defaultStickiness": "default_stickiness"},
        key="id",
    ),
    "contextFields": Kind(
        "contextField",
        "contextFields",
        ContextField,
        _same("description", "stickiness") | {"order": "sort_order", "legalValues": "legal_values"},
    ),
    "strategyTypes": Kind(
        "strategyType",
        "strategyTypes",
        StrategyType,
        _same("title", "description", "parameters"),
    ),
    "tagTypes": Kind("tagType", "tagTypes", TagType, _same("description", "icon", "color")),
    "segments": Kind(
        "segment",
        "segments",
        SegmentDefinition,
        _same("description", "project", "constraints"),
    ),
    "flags": Kind(
        "flag",
        "features",
        Feature,
        _same("project", "type", "description", "stale", "tags", "environments")
        | {"impressionData": "impression_data", "parent": "dependencies"},
    ),
}


@dataclass
class Item:
    """What a file says of an item, beside its struct: the attributes that it has, whether its
    states are enforced, also in single environments, and the paths of its parts in the file by
    those in the struct."""

    path: str
    attributes: set[str]
    enforces: bool
    enforcing: dict[str, bool] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)

    def restore_path(self, path: str) -> str:
        """The path in the file of a path in the struct, which begins with a dot or is empty."""
        restored = restore_path(path, self.paths)
        return self.path + path if restored == path else restored


def join_path(path: str, name: str) -> str:
    """The path of a member: `flags.checkout`, `flags["a.b"]`."""
    if _PLAIN.fullmatch(name):
        return f"{path}.{name}"
    return f"{path}[{msgspec.json.encode(name).decode()}]"


class FileReader:
    """Call `read` once. `snapshot` has the items with the defaults of what they don't say; `items`
    are by kind of the file and name."""

    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self.items: dict[tuple[str, str], Item] = {}
        self._problems = Problems()

    def read(self, documents: Sequence[Any]) -> None:
        """Raises BadDataError with all problems, of each item at least the first."""
        for n, document in enumerate(documents):
            self._read_document(document, f"documents[{n}]")
        if len(self.snapshot.features) > MAX_FLAGS:
            self._problems.add("documents", f"There can't be more than {MAX_FLAGS} flags.")
        self._problems.raise_if_any()

    def _read_document(self, document: Any, path: str) -> None:
        if not isinstance(document, dict):
            self._problems.add(path, "must be an object with version: 1")
            return
        if "format" in document or "features" in document:
            text = "This is an export of flags. `sigservice import` reads it."
            self._problems.add(path, text)
            return
        if document.get("version") != 1 or document["version"] is True:
            self._problems.add(f"{path}.version", "must be 1")
        self._check_members(document, ("version", "project", "states", *_LATER, *KINDS), path)
        project = document.get("project", DEFAULT)
        if not isinstance(project, str):
            self._problems.add(f"{path}.project", "must be a text")
            return
        enforces = self._read_states(document, path, False)
        for name in _LATER:
            if name in document:
                self._problems.add(f"{path}.{name}", "isn't supported yet")
        for name, kind in KINDS.items():
            if name in document:
                for key, item in self._read_map(document[name], f"{path}.{name}").items():
                    item_path = join_path(f"{path}.{name}", key)
                    self._read_item(
                        name, kind, key, item, Item(item_path, set(), enforces), project
                    )

    def _read_item(
        self, group: str, kind: Kind, name: str, value: Any, item: Item, project: str
    ) -> None:
        other = self.items.get((group, name))
        if other is not None:
            self._problems.add(item.path, f"is in the files twice, also at {other.path}")
            return
        self.items[group, name] = item
        members = self._read_map(value, item.path)
        own = ("states",) if group == "flags" else ()
        self._check_members(members, (*kind.attributes, *own), item.path)
        item.enforces = self._read_states(members, item.path, item.enforces)
        encoded = _list_encoded_names(kind.struct)
        fields: Members = {kind.key: name}
        if group == "projects":
            fields["name"] = name
        if group == "flags":
            fields["project"] = project
        for member, attribute in kind.attributes.items():
            if member in members:
                item.attributes.add(attribute)
                item.paths[f".{encoded[attribute]}"] = join_path(item.path, member)
                fields[encoded[attribute]] = self._read_member(group, member, members[member], item)
        for path, names in list_unknown(fields, kind.struct):
            self._add_unknown(item.restore_path(f".{path}"), names)
        try:
            struct = msgspec.convert(fields, kind.struct)
        except msgspec.ValidationError as error:
            message, _, where = str(error).partition(" - at `$")
            self._problems.add(item.restore_path(where.rstrip("`")), message)
        else:
            getattr(self.snapshot, kind.member).append(struct)

    def _read_member(self, group: str, member: str, value: Any, item: Item) -> Any:
        """The value as the struct has it."""
        path = f"{item.path}.{member}"
        if member == "environments":
            return self._read_environments(group, value, item)
        if member == "constraints":
            return self._read_constraints(value, path)
        if member == "legalValues":
            values = self._read_list(value, path)
            return [{"value": v} if isinstance(v, str) else v for _, v in values]
        if member == "tags":
            return [_read_tag(tag) for _, tag in self._read_list(value, path)]
        if member == "parent":
            return self._read_parent(value, item)
        if member == "enabled":
            return _read_switch(value)
        return value

    def _read_parent(self, value: Any, item: Item) -> Any:
        if value is None:
            return []
        parent = {"flag": value} if isinstance(value, str) else value
        if not isinstance(parent, dict):
            return value
        self._check_members(parent, ("flag", "enabled", "variants"), f"{item.path}.parent")
        item.paths[".dependencies[0]"] = f"{item.path}.parent"
        item.paths[".dependencies[0].feature"] = f"{item.path}.parent.flag"
        return [{"feature" if name == "flag" else name: v for name, v in parent.items()}]

    def _read_environments(self, group: str, value: Any, item: Item) -> Any:
        path, result = f"{item.path}.environments", []
        if group == "projects" and isinstance(value, list):
            return [{"environment": name} for name in value]
        for n, (name, place) in enumerate(self._read_map(value, path).items()):
            item.paths[f".environments[{n}]"] = place_path = join_path(path, name)
            item.paths[f".environments[{n}].environment"] = place_path
            if group == "projects":
                link = self._read_map(place, place_path)
                self._check_members(link, ("defaultStrategy",), place_path)
                fields: Members = {"environment": name}
                if link.get("defaultStrategy") is not None:
                    fields["defaultStrategy"] = self._read_strategy(
                        link["defaultStrategy"], item, f".environments[{n}].defaultStrategy"
                    )
                result.append(fields)
            else:
                result.append(self._read_place(name, place, item, f".environments[{n}]"))
        return result

    def _read_place(self, name: str, value: Any, item: Item, at: str) -> Members:
        """A flag in an environment; `at` is its path in the struct."""
        path, fields = item.restore_path(at), {"environment": name}
        switch = _read_switch(value)
        if isinstance(switch, bool):
            return fields | {"enabled": switch}
        place = self._read_map(value, path)
        names = ("enabled", "states", "variants", "strategies", "rollout")
        self._check_members(place, names, path)
        item.enforcing[name] = self._read_states(place, path, item.enforces)
        result: Members = dict(fields)
        if "enabled" in place:
            result["enabled"] = _read_switch(place["enabled"])
        if "variants" in place:
            result["variants"] = self._read_variants(place["variants"], item, f"{at}.variants")
        if "rollout" in place and "strategies" in place:
            self._problems.add(f"{path}.rollout", "can't be used with strategies")
        elif "rollout" in place:
            item.paths[f"{at}.strategies[0]"] = path
            result["strategies"] = [
                self._read_strategy({"rollout": place["rollout"]}, item, f"{at}.strategies[0]")
            ]
        elif "strategies" in place:
            result["strategies"] = [
                self._read_strategy(strategy, item, f"{at}.strategies[{n}]")
                for n, strategy in self._read_list(place["strategies"], f"{path}.strategies")
            ]
        return result

    def _read_strategy(self, value: Any, item: Item, at: str) -> Any:
        path = item.restore_path(at)
        if not isinstance(value, dict):
            self._problems.add(path, "must be an object")
            return {"name": ""}
        for name in ("id", "sortOrder"):
            if name in value:
                self._problems.add(join_path(path, name), "can't be in a file")
        strategy: Members = {"name": "flexibleRollout"} | value
        short = {name: strategy.pop(name) for name in ROLLOUT_MEMBERS if name in strategy}
        if short and strategy["name"] != "flexibleRollout":
            self._problems.add(join_path(path, next(iter(short))), "needs a gradual rollout")
        parameters = strategy.get("parameters", {})
        if isinstance(parameters, dict):
            for name in short:
                item.paths[f"{at}.parameters.{name}"] = join_path(path, name)
                if name in parameters:
                    self._problems.add(join_path(path, name), "is in parameters too")
            strategy["parameters"] = parameters | short
        if "constraints" in strategy:
            constraints = strategy["constraints"]
            strategy["constraints"] = self._read_constraints(constraints, f"{path}.constraints")
        if "variants" in strategy:
            strategy["variants"] = self._read_variants(strategy["variants"], item, f"{at}.variants")
        return strategy

    def _read_constraints(self, value: Any, path: str) -> list[Any]:
        items = self._read_list(value, path)
        return [self._read_constraint(item, f"{path}[{n}]") for n, item in items]

    def _read_constraint(self, value: Any, path: str) -> Any:
        """`{FIELD: [values]}` is short for IN."""
        if isinstance(value, dict) and len(value) == 1:
            ((name, values),) = value.items()
            value = {"contextName": name, "operator": "IN", "values": values}
        if isinstance(value, dict):
            values = value.get("values")
            texts = [*(values if isinstance(values, list) else []), value.get("value") or ""]
            if not all(isinstance(text, str) for text in texts):
                self._problems.add(path, "The values must be texts.")
        return value

    def _read_variants(self, value: Any, item: Item, at: str) -> Any:
        """A `weight` is a percentage and makes the variant fixed."""
        variants, list_path = [], item.restore_path(at)
        for n, variant in self._read_list(value, list_path):
            if isinstance(variant, dict):
                path = f"{list_path}[{n}]"
                if "weightType" in variant:
                    self._problems.add(f"{path}.weightType", "can't be in a file")
                weight = variant.get("weight", 0)
                is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
                if not is_number or abs(weight) > 100 or round(weight * 10) / 10 != weight:
                    text = "must be a percentage with at most one decimal"
                    self._problems.add(f"{path}.weight", text)
                    weight = 0
                if "weight" in variant:
                    variant = variant | {"weight": round(weight * 10), "weightType": "fix"}
            variants.append(variant)
        return variants

    def _read_states(self, members: Members, path: str, inherited: bool) -> bool:
        """Whether states are enforced."""
        value = members.get("states", "enforce" if inherited else "create")
        if value not in ("create", "enforce"):
            self._problems.add(f"{path}.states", "must be create or enforce")
        return bool(value == "enforce")

    def _read_map(self, value: Any, path: str) -> Members:
        """Null is an item with defaults, except for the lists of a document."""
        if isinstance(value, dict):
            return value
        if value is not None or path.count(".") == 1:
            self._problems.add(path, "must be an object")
        return {}

    def _read_list(self, value: Any, path: str) -> enumerate[Any]:
        if not isinstance(value, list):
            self._problems.add(path, "must be a list")
        return enumerate(value if isinstance(value, list) else [])

    def _check_members(self, members: Members, names: Collection[str], path: str) -> None:
        for name in members:
            if name not in names:
                self._add_unknown(join_path(path, name), names)

    def _add_unknown(self, path: str, names: Collection[str]) -> None:
        name = path.rpartition(".")[2]
        nearest = difflib.get_close_matches(name, names, 1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        self._problems.add(path, f"unknown member{hint}")


@cache
def _list_encoded_names(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {item.name: item.encode_name for item in msgspec.structs.fields(struct)}


def _read_switch(value: Any) -> Any:
    return {"on": True, "off": False}.get(value, value) if isinstance(value, str) else value


def _read_tag(value: Any) -> Any:
    """Of the type `simple` without a colon."""
    if not isinstance(value, str):
        return value
    type, colon, name = value.partition(":")
    return {"type": type, "value": name} if colon else {"type": "simple", "value": value}
