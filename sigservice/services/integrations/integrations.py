"""Integrations: which events other systems get. The API calls them addons, their kinds providers.

The column `parameters` has masks instead of sensitive values; `secrets` has the values, encrypted.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.clock import format_iso
from sigservice.crypto.encryption import Encryption
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import (
    BadDataError,
    ExceedsLimitError,
    NoPermissionError,
    require_found,
)
from sigservice.outgoing import post
from sigservice.outgoing.addresses import AddressPolicy
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.repository.projects import environments, projects
from sigservice.repository.projects import tag_types as tag_type_rows
from sigservice.services.identity import ADMIN, SYSTEM, Identity
from sigservice.services.integrations import integration_checks, integration_events
from sigservice.services.integrations.integration_providers import PROVIDERS, Parameter, Provider
from sigservice.services.problems import Problems
from sigservice.services.projects import tag_types
from sigservice.services.projects.tag_types import TagType
from sigservice.services.system import events

MASK = "*****"
MAX_NAME_LENGTH = 100
MAX_ID = 2**31 - 1
NO_MAIL_SERVER = "The service has no mail server: set EMAIL_HOST."


class Integration(msgspec.Struct):
    """The body of POST and PUT; unknown members and parameters are ignored."""

    provider: str
    enabled: bool
    parameters: dict[str, Any]
    events: list[str]
    description: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    projects: list[str] = []
    environments: list[str] = []


class Rules(NamedTuple):
    """The part of the configuration about integrations."""

    encryption: Encryption
    policy: AddressPolicy
    limit: int
    now: datetime
    has_mail_server: bool = True


def get(conn: Connection, id: int) -> Row:
    """Raises NotFoundError."""
    row = integration_rows.find(conn, id) if 0 < id <= MAX_ID else None
    return require_found(row, f"Integration {id} not found.")


def create(
    conn: Connection, new: Integration, by: Identity, rules: Rules, source: str | None = None
) -> Row:
    """An integration with a `source`, where an import took it from, may lack parameters while it is
    disabled. Raises BadDataError, ExceedsLimitError, NoPermissionError."""
    integration_rows.lock(conn)
    if len(integration_rows.list_all(conn)) >= rules.limit:
        raise ExceedsLimitError(
            f"At most {rules.limit} integrations are allowed.",
            resource="integrations",
            limit=rules.limit,
        )
    if new.provider == "email" and not rules.has_mail_server:
        raise BadDataError(NO_MAIL_SERVER, path="provider")
    values = _check(conn, new, rules, None, may_lack=source is not None and not new.enabled)
    _check_permission(by, new.events)
    id = integration_rows.insert(
        conn, {**values, "provider": new.provider, "source": source, "now": rules.now}
    )
    _create_tag_type(conn, PROVIDERS[new.provider], by)
    row = get(conn, id)
    events.record(conn, "addon-config-created", by, data=_to_event(row))
    return row


def update(conn: Connection, id: int, new: Integration, by: Identity, rules: Rules) -> Row:
    """Replaces all but an absent description and name. Raises NotFoundError, BadDataError,
    NoPermissionError."""
    integration_rows.lock(conn)
    before = get(conn, id)
    _check_permission(by, [*before["events"], *new.events])
    values = _check(conn, new, rules, before, may_lack=not new.enabled)
    integration_rows.update(conn, id, values)
    if not (before["enabled"] and new.enabled):
        integration_rows.delete_waiting(conn, id)
    row = get(conn, id)
    data, pre_data = _to_event(row), _to_event(before)
    events.record(conn, "addon-config-updated", by, data=data, pre_data=pre_data)
    return row


def delete(conn: Connection, id: int, by: Identity) -> None:
    """Deletes its deliveries too. Raises NotFoundError, NoPermissionError."""
    integration_rows.lock(conn)
    before = get(conn, id)
    _check_permission(by, before["events"])
    integration_rows.delete(conn, id)
    events.record(conn, "addon-config-deleted", by, pre_data=_to_event(before))


def disable(conn: Connection, id: int, reason: str, *, version: str) -> None:
    """Disables an integration in the name of the service, and deletes its waiting deliveries. One
    that was changed since `version` stays enabled: its receiver may be another one."""
    integration_rows.lock(conn)
    before = integration_rows.find(conn, id)
    if before is None or not integration_rows.disable(conn, id, reason, version=version):
        return
    integration_rows.delete_waiting(conn, id)
    data, pre_data = _to_event(get(conn, id)), _to_event(before)
    events.record(conn, "addon-config-updated", SYSTEM, data=data, pre_data=pre_data)


def check_permission(conn: Connection, id: int, by: Identity) -> Row:
    """The integration, if the user may change it. Raises NotFoundError, NoPermissionError."""
    row = get(conn, id)
    _check_permission(by, row["events"])
    return row


def read_parameters(row: Row, encryption: Encryption) -> dict[str, str]:
    """All parameters, decrypted. Raises EncryptionError."""
    parameters: dict[str, str] = msgspec.json.decode(row["parameters"])
    if row["secrets"]:
        parameters |= msgspec.json.decode(encryption.decrypt(bytes(row["secrets"])))
    return parameters


def rotate_secrets(conn: Connection, encryption: Encryption) -> int:
    """Encrypts the secrets of all integrations with the first key; returns how many integrations
    have any. Raises EncryptionError."""
    integration_rows.lock(conn)
    rows = [row for row in integration_rows.list_all(conn) if row["secrets"]]
    for row in rows:
        row["secrets"] = encryption.rotate(bytes(row["secrets"]))
    integration_rows.update_secrets(conn, rows)
    return len(rows)


def to_json(row: Row) -> dict[str, Any]:
    """The integration in the API, with masked secrets."""
    last_sent_at = row["last_sent_at"]
    return {
        **_to_event(row),
        "parameters": msgspec.Raw(row["parameters"].encode()),
        "createdAt": format_iso(row["created_at"]),
        "deliveries": {
            "waiting": row["waiting"],
            "lastSentAt": format_iso(last_sent_at) if last_sent_at else None,
            "lastError": row["last_error"],
        },
    }


def find_name(row: Row) -> str:
    """What pages call the integration."""
    return str(row["name"] or row["description"] or PROVIDERS[row["provider"]].label)


def list_missing(row: Row) -> list[Parameter]:
    """The required parameters that the integration lacks."""
    parameters = msgspec.json.decode(row["parameters"])
    return [
        one
        for one in PROVIDERS[row["provider"]].parameters
        if one.is_required and one.name not in parameters
    ]


def _to_event(row: Row) -> dict[str, Any]:
    """The integration in events, without parameters."""
    return {
        "id": row["id"],
        "name": row["name"],
        "provider": row["provider"],
        "enabled": row["enabled"],
        "disabledReason": row["disabled_reason"],
        "description": row["description"],
        "events": row["events"],
        "projects": row["projects"],
        "environments": row["environments"],
    }


def _check(
    conn: Connection, new: Integration, rules: Rules, before: Row | None, *, may_lack: bool
) -> dict[str, Any]:
    """The values of the columns. Raises BadDataError."""
    problems = Problems()
    provider = PROVIDERS.get(new.provider)
    if provider is None:
        choices = ", ".join(PROVIDERS)
        raise BadDataError(f"The provider must be one of {choices}.", path="provider")
    if before is not None and new.provider != before["provider"]:
        raise BadDataError("The provider of an integration can't change.", path="provider")
    parameters = integration_checks.to_texts(new.parameters, problems)
    previous = read_parameters(before, rules.encryption) if before else {}
    entries = {
        one.name: parameters[one.name] for one in provider.parameters if one.name in parameters
    }
    values = _unmask(provider, entries, previous, problems)
    for parameter in provider.parameters:
        if parameter.name in values:
            if values[parameter.name] != previous.get(parameter.name):
                text = values[parameter.name]
                integration_checks.check_parameter(parameter, text, problems, rules.policy)
        elif parameter.is_required and not may_lack and parameter.name not in entries:
            problems.add(f"parameters.{parameter.name}", f"The {parameter.label} is required.")
    name = before["name"] if before else None
    if new.name is not UNSET:
        name = " ".join((new.name or "").split()) or None
    problems.check_text(name, "name", max_length=MAX_NAME_LENGTH)
    names = {row["name"] for row in integration_rows.list_all(conn)}
    if name is not None and name in names - {before["name"] if before else None}:
        problems.add("name", f"There is an integration with the name {name} already.")
    if not new.events:
        problems.add("events", "Choose at least one event.")
    _check_filters(conn, new, before, problems)
    description = before["description"] if before else None
    if new.description is not UNSET:
        description = (new.description or "").strip() or None
    problems.check_text(description, "description", max_length=1000)
    problems.raise_if_any()
    secrets = {name: text for name, text in values.items() if provider.by_name[name].is_sensitive}
    return {
        "name": name,
        "enabled": new.enabled,
        "description": description,
        "parameters": msgspec.json.encode(values | dict.fromkeys(secrets, MASK)).decode(),
        "secrets": rules.encryption.encrypt(msgspec.json.encode(secrets).decode())
        if secrets
        else None,
        "events": list(dict.fromkeys(new.events)),
        "projects": list(dict.fromkeys(new.projects)),
        "environments": list(dict.fromkeys(new.environments)),
    }


def _unmask(
    provider: Provider, entries: dict[str, str], previous: dict[str, str], problems: Problems
) -> dict[str, str]:
    """The parameters, with stored values instead of masks. A secret is only ever sent to the server
    that it was entered for."""
    masked = [n for n, text in entries.items() if text == MASK and provider.by_name[n].is_sensitive]
    values = {
        name: previous.get(name) if name in masked else text for name, text in entries.items()
    }
    for name in masked:
        if name not in previous:
            problems.add(f"parameters.{name}", f"Enter the {provider.by_name[name].label}.")
    moves = "url" in provider.by_name and post.moves_elsewhere(
        previous.get("url") or provider.default_url, values.get("url") or provider.default_url
    )
    if moves:
        for name in masked:
            if name in previous and name != "url":
                label = provider.by_name[name].label
                problems.add(f"parameters.{name}", f"The URL changes: enter the {label} again.")
    return {name: text for name, text in values.items() if text is not None}


def _check_filters(
    conn: Connection, new: Integration, before: Row | None, problems: Problems
) -> None:
    previous = before or {"events": [], "projects": [], "environments": []}
    any_name = integration_events.ANY
    checks = (
        (new.events, integration_events.KNOWN, "events", "event"),
        (new.projects, projects.list_ids(conn), "projects", "project"),
        (
            new.environments,
            {row["name"] for row in environments.list_all(conn)},
            "environments",
            "environment",
        ),
    )
    for values, names, path, noun in checks:
        accepted = {any_name, *names, *previous[path]}
        for index, value in enumerate(values):
            if value not in accepted:
                problems.add(f"{path}[{index}]", f"There is no {noun} {value[:100]!r}.")


def _check_permission(by: Identity, types: Sequence[str]) -> None:
    """Raises NoPermissionError if one of the types is for admins only and the user is no admin.
    Events of releases are: who is on call relies on what they announce."""
    if by.has_permission(ADMIN):
        return
    open_types = set(events.OPEN_FAMILIES) - {"release", "safeguard"}
    if any(type.partition("-")[0] not in open_types for type in types):
        raise NoPermissionError("Only admins may send these events.")


def _create_tag_type(conn: Connection, provider: Provider, by: Identity) -> None:
    name = provider.tag_type
    if name and tag_type_rows.find(conn, name) is None:
        tag_types.create(conn, TagType(name, provider.tag_description, "#"), by)
