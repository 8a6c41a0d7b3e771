"""Integrations in export files and imports, without their secrets. An imported one is disabled
until a user enters them. Its source is stored, so importing it again changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import AppError
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.repository.projects import environments, projects
from sigservice.services.identity import Identity
from sigservice.services.integrations import integration_events, integrations
from sigservice.services.integrations.integration_providers import PROVIDERS
from sigservice.services.integrations.integrations import MASK, Integration, Rules
from sigservice.services.system import settings
from sigservice.services.transfer.snapshot_import import Notice, PartialChanges
from sigservice.services.transfer.snapshot_writer import ImportChange
from sigservice.services.transfer.snapshots import IntegrationDefinition


def read_integrations(conn: Connection) -> list[IntegrationDefinition]:
    """The integrations for an export file, by ID, with masked secrets."""
    installation = settings.find_instance_id(conn)
    return [_read_row(row, installation) for row in integration_rows.list_all(conn)]


def import_integrations(
    conn: Connection, items: Sequence[IntegrationDefinition], by: Identity, rules: Rules
) -> PartialChanges:
    """Creates the integrations that don't exist, disabled. `secrets` of the result must be entered
    before they can be enabled; `skipped` also names omitted parts."""
    changes = PartialChanges()
    integration_rows.lock(conn)
    rows, installation = integration_rows.list_all(conn), settings.find_instance_id(conn)
    sources = {row["source"] for row in rows} | {_make_source(row, installation) for row in rows}
    names = {row["name"] for row in rows if row["name"]}
    choices = {
        "events": {*integration_events.KNOWN, integration_events.ANY},
        "projects": {*projects.list_ids(conn), integration_events.ANY},
        "environments": {
            *(row["name"] for row in environments.list_all(conn)),
            integration_events.ANY,
        },
    }
    for item in items:
        if item.source not in sources and item.name not in names:
            _import(conn, item, by, rules, choices, changes)
    return changes


def _import(
    conn: Connection,
    item: IntegrationDefinition,
    by: Identity,
    rules: Rules,
    choices: Mapping[str, Collection[str]],
    changes: PartialChanges,
) -> None:
    title, lists = f"integration {item.label}", {}
    for member, names in choices.items():
        values: list[str] = getattr(item, member)
        lists[member] = [value for value in values if value in names]
        if missing := [value for value in values if value not in names]:
            changes.skipped.append(Notice(title, f"unknown {member}: {', '.join(missing)}"))
        if missing and not lists[member]:  # an empty filter would mean all of them
            changes.skipped.append(Notice(title, "not created: create it here"))
            return
    readable = {name: value for name, value in item.parameters.items() if value != MASK}
    new = Integration(
        item.provider, False, readable, description=item.description, name=item.name, **lists
    )
    try:
        row = integrations.create(conn, new, by, rules, source=item.source)
    except AppError as error:
        texts = [str(detail["message"]) for detail in error.details] or [error.message]
        changes.skipped.append(Notice(title, f"not created: {' '.join(texts)}"))
        return
    changes.entries.append(ImportChange("integration", item.label, "created, disabled"))
    masked = {name for name, value in item.parameters.items() if value == MASK}
    required = {parameter.name for parameter in integrations.list_missing(row)}
    parameters = [one.name for one in PROVIDERS[item.provider].parameters]
    if secrets := [name for name in parameters if name in masked | required]:
        changes.secrets.append(Notice(item.label, ", ".join(secrets)))


def _read_row(row: Row, installation: str) -> IntegrationDefinition:
    return IntegrationDefinition(
        source=_make_source(row, installation),
        provider=row["provider"],
        events=row["events"],
        name=row["name"],
        description=row["description"],
        parameters=msgspec.json.decode(row["parameters"]),
        projects=row["projects"],
        environments=row["environments"],
    )


def _make_source(row: Row, installation: str) -> str:
    return f"{installation}#{row['id']}"
