"""The form of a new release: steps, guards, and what would have happened in the last two days."""

from collections.abc import Mapping
from typing import Any

from sigservice.repository.signals import signal_endpoints
from sigservice.routes.admin.releases.releases import read_surroundings
from sigservice.routes.pages.releases.releases import PLACE, find_target, make_breadcrumbs
from sigservice.services.flags import strategies
from sigservice.services.identity import EDIT, Identity
from sigservice.services.releases import release_templates, releases
from sigservice.services.releases.edits import ROLLOUT_TYPE
from sigservice.services.releases.releases import NewRelease
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.body import to_struct
from sigservice.web.form_pages import render_form, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, to_form
from sigservice.web.growing_forms import GROWING_FORM, list_rows, make_section
from sigservice.web.helpers import join_path

NEW = f"{PLACE}/new"
_NUMERIC = {"inputmode": "numeric"}
_KINDS = [
    ("signal", "Alert: no alert fires at the endpoint"),
    ("silence", "Silence: the endpoint is not down"),
    ("rule", "Impact metric: a ratio of counters stays below a limit"),
]
_EFFECTS = [("rollBack", "Roll back"), ("hold", "Hold")]
_STEP_FIELDS = [
    Field("rollout", "Percentage", type="number", attributes={"min": 0, "max": 100}),
    Field("minutes", "Minutes at least", hint="Empty in the last step.", attributes=_NUMERIC),
    Field("waitForPerson", "Then wait for a person", type="checkbox"),
]

router = Router(PageGuard)


@router.get(NEW, needs=EDIT)
def show_new_release(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    entry: Entry = NO_ENTRY,
    replay: Mapping[str, Any] | None = None,
) -> HTTPResponse:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        existing = strategies.list_strategies(conn, target)
        templates = release_templates.list_all(conn)
        endpoints = signal_endpoints.list_all(conn)
    careful = release_templates.BUILT_IN["careful"]
    form = entry.form or to_form({"template": "", "steps": careful.steps, "watchMinutes": 60})
    return render_form(
        context,
        identity,
        fill(_list_fields(existing, templates), form),
        title=f"New release of {name} in {environment}",
        button="Start release",
        entry=entry,
        breadcrumbs=make_breadcrumbs(name),
        cancel_path=join_path("/admin/features", name),
        sections=[
            make_section(
                form,
                "steps",
                "Steps",
                "step",
                "Percentages must rise. They count only without a template.",
                _STEP_FIELDS,
                max_rows=20,
            ),
            make_section(
                form,
                "guards",
                "Guards",
                "guard",
                "All must be ok before each step, and are watched all the time.",
                _list_guard_fields(endpoints),
                blank={"kind": "signal", "effect": "rollBack"},
                max_rows=5,
            ),
        ],
        rest="releases/replay.tpl",
        replay=replay,
    )


@router.post(NEW, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_new_release)
def create_release(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        body, surroundings = _read_body(form, environment), read_surroundings(context)
        if form.get("do") == "replay":
            replay = releases.preview(conn, target, body, surroundings)
        else:
            row = releases.create(conn, target, body, identity, surroundings)
    if form.get("do") == "replay":
        for guard in replay["guards"]:
            guard["broken_count"] = sum(item["firing"] for item in guard["series"])
        return show_new_release(context, identity, name, environment, Entry(form), replay)
    context.outbox_waiting.set()
    path = join_path("/admin/features", name, "environments", environment, "releases", row["id"])
    return respond.redirect(context, f"{path}?done=created")


def _list_fields(existing: list[dict[str, Any]], templates: list[dict[str, Any]]) -> list[Field]:
    rollouts = [strategy for strategy in existing if strategy["name"] == ROLLOUT_TYPE]
    names = [
        (
            strategy["id"],
            f"{strategy['title'] or 'Gradual rollout'} ({strategy['parameters'].get('rollout')}%)",
        )
        for strategy in rollouts
    ]
    template_choices = [
        (
            template["name"],
            f"{template['name']}: {', '.join(str(s['rollout']) for s in template['steps'])}%",
        )
        for template in templates
    ]
    return [
        Field(
            "strategyId",
            "Strategy",
            type="select",
            choices=names or [("", "A new gradual rollout to everyone")],
            hint="A user who got the feature keeps it in later steps.",
        ),
        Field(
            "template",
            "Template",
            type="radio",
            choices=[("", "The steps below"), *template_choices],
        ),
        Field("watchMinutes", "Minutes of watching after the last step", attributes=_NUMERIC),
        Field("startAt", "Start at (UTC)", hint="Empty: now. Such as 2026-12-01T08:00Z."),
    ]


def _list_guard_fields(endpoints: list[dict[str, Any]]) -> list[Field]:
    choices = [("", "–"), *((str(row["id"]), row["name"]) for row in endpoints)]
    return [
        Field("kind", "Guard", type="select", choices=_KINDS),
        Field("endpointId", "Endpoint", type="select", choices=choices),
        Field("metric", "Counter", hint="Of an impact metric, such as checkout_errors."),
        Field("per", "Per counter", hint="Such as checkout_requests."),
        Field("above", "Limit", hint="Broken above, such as 0.05.", attributes=_NUMERIC),
        Field("effect", "When broken", type="select", choices=_EFFECTS),
        Field("dryRun", "Dry run: only record what it would do", type="checkbox"),
    ]


def _read_body(form: Form, environment: str) -> NewRelease:
    """Raises BadDataError."""
    template = form.get("template") or None
    body: dict[str, Any] = {
        "strategyId": form.get("strategyId") or None,
        "template": template,
        "startAt": form.get("startAt", "").strip() or None,
        "guards": [_read_guard(row, environment) for row in list_rows(form, "guards")],
    }
    if template is None:
        body["steps"] = [_read_step(row) for row in list_rows(form, "steps")]
    if template is None or form.get("watchMinutes", "").strip():
        body["watchMinutes"] = _read_number(form.get("watchMinutes", ""))
    return to_struct(body, NewRelease)


def _read_step(row: Form) -> dict[str, Any]:
    minutes = row.get("minutes", "").strip()
    return {
        "rollout": _read_number(row.get("rollout", "")),
        "minutes": _read_number(minutes) if minutes else None,
        "waitForPerson": "waitForPerson" in row,
    }


def _read_guard(row: Form, environment: str) -> dict[str, Any]:
    guard: dict[str, Any] = {
        "kind": row.get("kind", ""),
        "effect": row.get("effect", ""),
        "dryRun": "dryRun" in row,
    }
    if row.get("kind") != "rule":
        return guard | {"endpointId": _read_number(row.get("endpointId", ""))}
    source = {
        "kind": "impactMetric",
        "measure": "ratio",
        "metric": row.get("metric", "").strip(),
        "per": row.get("per", "").strip() or None,
        "environment": environment,
    }
    text = row.get("above", "").strip()
    try:
        above = float(text)
    except ValueError:
        above = None
    return guard | {"rule": {"source": source, "above": above, "minSamples": 50, "breaches": 2}}


def _read_number(text: str) -> int:
    """-1, which no check accepts, for another text."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
