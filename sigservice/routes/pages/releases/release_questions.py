"""The commands of a release on pages, and the questions before the dangerous ones."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from sigservice.clock import parse_iso
from sigservice.errors import NotFoundError
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.release_sentences import name_next
from sigservice.routes.pages.release_views import fill_label
from sigservice.routes.pages.releases.releases import RELEASE, make_breadcrumbs
from sigservice.services.identity import EDIT, Identity
from sigservice.services.releases import release_commands, releases
from sigservice.services.releases.release_commands import CommandBody
from sigservice.web import Connection, Context, PageGuard, Router
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Field, Form, fill, read
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.wording import spell_duration

BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "adopt": ("resume", {"adopt": True}),
    "restore": ("resume", {"adopt": False}),
}
BACK = {"list": "/admin/releases", "home": "/"}
REASON = Field("reason", "Why?", hint="Shown in the audit log.", attributes={"maxlength": 500})

router = Router(PageGuard)


class Question(NamedTuple):
    """What a person is asked before a command."""

    title: str
    text: str
    button: str
    is_dangerous: bool = False


@confirms(router, f"{RELEASE}/steps/<step:id>/<command>", needs=EDIT, has_form=True)
def run_command(
    context: Context,
    conn: Connection,
    identity: Identity,
    name: str,
    environment: str,
    release_id: int,
    step: int,
    command: str,
    form: Form,
) -> Confirmation:
    """`step` counts from 1, so that a question about an earlier step changes nothing. `back` of the
    form is the page that asked, such as `list?flag=checkout`."""
    if command not in QUESTIONS:
        raise NotFoundError("There is no such command.")
    target = find_target(conn, name, environment)
    row = releases.get(conn, target, release_id)
    release = releases.to_json(row) | {"present": row["present_rollout"]}
    if not 1 <= step <= len(release["steps"]):
        raise NotFoundError("The release has no such step.")
    now = context.clock.now()
    question = QUESTIONS[command]({**release, "label": fill_label(command, release), "now": now})
    api_command, members = BODIES.get(command, (command, {}))
    back = form.get("back", "")

    def perform() -> None:
        entered = {"reason": form.get("reason", "")}
        body = read(entered, CommandBody, step=step - 1, **members)
        release_commands.run_command(
            conn, target, release_id, api_command, body, identity, context.clock
        )

    return Confirmation(
        title=question.title,
        body=[question.text],
        button=question.button,
        cancel_path=find_back(name, environment, release_id, back),
        perform=perform,
        done=find_back(name, environment, release_id, back, done=f"release-{command}"),
        is_dangerous=question.is_dangerous,
        breadcrumbs=make_breadcrumbs(name),
        hidden={"back": back},
        fields=fill([REASON], form),
    )


def find_back(name: str, environment: str, release_id: int, back: str, **query: str) -> str:
    """The path of the page that asked, with its filters and place; by default the page of the
    release."""
    page, _, filters = back.partition("?")
    own = ("/admin/features", name, "environments", environment, "releases", release_id)
    path = flag_path(name) if page == "flag" else BACK.get(page, join_path(*own))
    place = {"env": environment} if page == "flag" else {}
    text = urlencode(dict(parse_qsl(filters[:2000])) | place | query)
    return path + (f"?{text}" if text else "") + (f"#in-{environment}" if page == "flag" else "")


def _ask_hold(release: Mapping[str, Any]) -> Question:
    text = f"{_where(release)} stays at {release['rollout']}% until a person continues. Guards"
    return Question(f"Hold at {release['rollout']}%?", f"{text} still act.", "Hold")


def _ask_start(release: Mapping[str, Any]) -> Question:
    first = f"{release['steps'][0]['rollout']}%"
    return Question(f"Start now with {first}?", f"{_where(release)} goes to {first}.", "Start now")


def _ask_resume(release: Mapping[str, Any]) -> Question:
    text = f"{_where(release)} is at {release['rollout']}%. The release goes on with its steps."
    return Question("Continue the release?", text, "Continue")


def _ask_advance(release: Mapping[str, Any]) -> Question:
    target, number = name_next(release), release["step"] + 1
    entered_at = parse_iso(release["stepEnteredAt"] or "")
    ran = spell_duration(release["now"] - entered_at) if entered_at else "0 s"
    minutes = release["steps"][release["step"]].get("minutes") or release["watchMinutes"]
    time = f"Step {number} has run {ran} of {spell_duration(timedelta(minutes=minutes))}."
    states = {guard["state"] for guard in release["guards"] if not guard.get("dryRun")}
    guards = "Guards are ok." if states <= {"ok"} else "Not all guards are ok."
    if not target:
        text = f"{time} {guards} The release ends, and nothing watches the flag after it."
        return Question("Finish now?", text, "Finish")
    text = f"{time} {guards} More users get the feature at once: {target} instead of"
    return Question(f"Go to {target} now?", f"{text} {release['rollout']}%.", f"Go to {target}")


def _ask_rollback(release: Mapping[str, Any]) -> Question:
    before, after = f"{release['rollout']}%", f"{release['startRollout']}%"
    text = f"{_where(release)} goes from {before} to {after} at once. Users lose the feature."
    title = f"Roll back to {after} of users?"
    return Question(title, f"{text} The release ends.", "Roll back", is_dangerous=True)


def _ask_stop(release: Mapping[str, Any]) -> Question:
    if release["state"] == "scheduled":
        text = f"It doesn't start. {_where(release)} stays at {release['rollout']}%."
        return Question("Cancel the release?", text, "Cancel the release")
    text = f"{_where(release)} stays at {release['rollout']}%. The release ends, and nothing"
    title = f"Stop at {release['rollout']}%?"
    return Question(title, f"{text} watches it.", "Stop", is_dangerous=True)


def _ask_adopt(release: Mapping[str, Any]) -> Question:
    text = f"The change of {_where(release)} stays, and the release goes on from its percentage."
    return Question(f"{release['label']}?", text, "Continue")


def _ask_restore(release: Mapping[str, Any]) -> Question:
    rollout = f"{release['steps'][release['step']]['rollout']}%"
    text = f"{_where(release)} goes back to {rollout}, the percentage of the step, with the same"
    return Question(
        f"Restore {rollout}?", f"{text} users as before. The release goes on.", "Restore"
    )


def _where(release: Mapping[str, Any]) -> str:
    return f"{release['feature']} in {release['environment']}"


QUESTIONS: dict[str, Callable[[Mapping[str, Any]], Question]] = {
    "start": _ask_start,
    "hold": _ask_hold,
    "resume": _ask_resume,
    "adopt": _ask_adopt,
    "restore": _ask_restore,
    "advance": _ask_advance,
    "rollback": _ask_rollback,
    "stop": _ask_stop,
}
