"""Settings of a project: mode, naming of flags, templates of links."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.db import Connection, Row
from sigservice.repository.projects import projects as project_rows
from sigservice.services import revisions
from sigservice.services.flags import feature_naming
from sigservice.services.flags.feature_naming import FeatureNaming
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.projects import environments, projects
from sigservice.services.system import events

MAX_LINK_TEMPLATES = 50


class LinkTemplate(msgspec.Struct):
    """`urlTemplate` may contain {{project}} and {{feature}}."""

    urlTemplate: str
    title: str | None = None


class ProjectSettings(msgspec.Struct):
    """An absent mode or naming stays unchanged; null removes the naming. The link templates are
    always replaced, as in Unleash."""

    mode: str | UnsetType = UNSET
    featureNaming: FeatureNaming | UnsetType | None = UNSET
    linkTemplates: list[LinkTemplate] | None = None


def update(conn: Connection, id: str, new: ProjectSettings, by: Identity) -> None:
    """Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    before = projects.get(conn, id)
    problems = Problems()
    mode = before["mode"] if new.mode is UNSET else new.mode
    problems.check_choice(mode, "mode", projects.MODES)
    naming = feature_naming.parse(before["feature_naming"])
    if new.featureNaming is not UNSET:
        naming = feature_naming.check(new.featureNaming or FeatureNaming(), problems)
    templates = new.linkTemplates or []
    _check_templates(templates, problems)
    problems.raise_if_any()
    values = {
        "mode": mode,
        "featureNaming": msgspec.to_builtins(naming),
        "linkTemplates": msgspec.to_builtins(templates),
    }
    if values == {"mode": before["mode"], **to_json(before)}:
        return
    project_rows.update_settings(
        conn,
        id,
        mode=mode,
        feature_naming=msgspec.json.encode(naming).decode() if naming.pattern else None,
        link_templates=msgspec.json.encode(templates).decode(),
    )
    events.record(
        conn,
        "project-updated",
        by,
        data=projects.build_event_data(before) | values,
        pre_data=projects.build_event_data(before) | to_json(before),
        project=id,
    )


def must_confirm(conn: Connection, environment: str, project_ids: Sequence[str]) -> bool:
    """Whether pages ask before they switch flags of these projects in the environment. Raises
    NotFoundError."""
    is_production = environments.get(conn, environment)["type"] == "production"
    return is_production and not project_rows.list_confirming(conn).isdisjoint(project_ids)


def set_confirmation(conn: Connection, id: str, confirms: bool, by: Identity) -> None:
    """Sets whether pages ask before they switch a flag of the project in an environment of the type
    production. Raises NotFoundError."""
    before = projects.get(conn, id)
    if confirms == before["confirms_production"]:
        return
    project_rows.set_confirmation(conn, id, confirms)
    events.record(
        conn,
        "project-updated",
        by,
        data={"id": id, "confirmsProduction": confirms},
        pre_data={"id": id, "confirmsProduction": not confirms},
        project=id,
    )


def to_json(row: Row) -> dict[str, Any]:
    """The settings in the project's JSON, without the mode."""
    return {
        "featureNaming": msgspec.to_builtins(feature_naming.parse(row["feature_naming"])),
        "linkTemplates": msgspec.json.decode(row["link_templates"]),
    }


def _check_templates(templates: Sequence[LinkTemplate], problems: Problems) -> None:
    if len(templates) > MAX_LINK_TEMPLATES:
        text = f"There can't be more than {MAX_LINK_TEMPLATES} link templates."
        problems.add("linkTemplates", text)
        return
    for n, template in enumerate(templates):
        path = f"linkTemplates[{n}]"
        problems.check_text(template.title, f"{path}.title", max_length=200)
        url_path, url = f"{path}.urlTemplate", template.urlTemplate
        problems.check_text(url, url_path, min_length=1, max_length=2000)
        if url and not _is_web_address(url):
            problems.add(url_path, "The urlTemplate must be an http or https URL.")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and url.isprintable()
