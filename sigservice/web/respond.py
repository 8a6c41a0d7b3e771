"""Responses: JSON, a page, a redirect. Handlers return them and set no other header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import msgspec
from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.services.identity import Identity
from sigservice.web.body import read_query
from sigservice.web.forms import NO_ENTRY, Entry, locate_problems
from sigservice.web.late import emergency
from sigservice.web.links import make_own_url
from sigservice.web.navigation import Frame, build_frame

if TYPE_CHECKING:
    from sigservice.services.system.emergency import Emergency

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
_JSON_HEADERS = {"Content-Type": JSON}
_encode = msgspec.json.Encoder().encode


class Created(NamedTuple):
    """The result of a handler of the admin API for the status 201: the JSON of the response, and
    the path of the new resource."""

    body: Any
    path: str


class Undo(NamedTuple):
    """The form that undoes a change: its path, the ids of the elements that it replaces, hidden
    fields, and its button."""

    path: str
    swap: str
    fields: Mapping[str, str]
    label: str = "Undo"


def json(value: Any, status: int = 200, **headers: str) -> HTTPResponse:
    """Keywords become headers: `location="…"`, with `-` for each `_`."""
    if not headers:
        return answer(_encode(value), status, _JSON_HEADERS)
    fields = {name.replace("_", "-").title(): text for name, text in headers.items()}
    return HTTPResponse(_encode(value), status, {"Content-Type": JSON, **fields})


def answer(body: bytes | Iterable[bytes], status: int, headers: Mapping[str, str]) -> HTTPResponse:
    """A response to frequent requests. bottle would check each header for line breaks and change
    its spelling, which takes longer than the handlers. `headers` must contain nothing from clients.
    The parts of an iterable are sent without a length."""
    response = HTTPResponse(body, status)
    response._headers = {name: [text] for name, text in headers.items()}
    return response


def empty(status: int = 200) -> HTTPResponse:
    return answer(b"", status, _JSON_HEADERS)


def add_headers(response: HTTPResponse, headers: Mapping[str, str]) -> None:
    """As quickly as `answer`, with the same condition."""
    for name, text in headers.items():
        response._headers[name.title()] = [text]


def text(value: str, kind: str = "text/plain") -> HTTPResponse:
    return HTTPResponse(value.encode(), 200, {"Content-Type": f"{kind}; charset=utf-8"})


def file(parts: Iterable[bytes], content_type: str, name: str) -> HTTPResponse:
    """A file that browsers save. It is sent while `parts` is read, in chunks without a length. An
    error of a part ends the connection, so that the client sees an incomplete file. `name` consists
    of letters, digits, and - _ ."""
    headers = {
        "Content-Type": f"{content_type}; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return HTTPResponse(parts, 200, headers)


class Page:
    """The result of a handler behind a PageGuard: a template with the values of `page`, which the
    guard renders for the user."""

    def __init__(self, template: str, **values: Any) -> None:
        self.template, self.values = template, values


class Question(Exception):
    """Raised by the handler of a form that asks first: PageGuard answers with its `page`, after the
    transaction was rolled back."""

    def __init__(self, page: Page) -> None:
        self.page = page


class ShownOnce(NamedTuple):
    """The result of the handler of a form, for a page that shows a secret or must not repeat the
    form when it is reloaded. The response redirects to the page; a reload of it leads to `back`."""

    page: Page
    back: str


def page(
    context: Context,
    template: str,
    identity: Identity | None,
    status: int = 200,
    *,
    form_error: AppError | None = None,
    entry: Entry = NO_ENTRY,
    breadcrumbs: Sequence[tuple[str, str]] = (),
    **values: Any,
) -> HTTPResponse:
    """A page in the layout. `title` is required; `notice` is a message above the content, with
    a button that undoes the change if there is an `undo`. `breadcrumbs` are the labels and paths
    of the pages above this one, root first. The error of the form's `entry`, or another
    `form_error`, sets the status and the problems. `action` is the path of the page, to which most
    forms are sent."""
    form_error = form_error or entry.error
    if form_error:
        status, values["title"] = form_error.status, f"Problem: {values['title']}"
    shared = {
        "breadcrumbs": breadcrumbs,
        "notice": "",
        "undo": None,
        "problems": locate_problems(form_error.details, entry.form) if form_error else [],
        "live": False,
        "action": context.prefix + request.environ["PATH_INFO"],
        "identity": identity,
        "authentication": context.authentication.type,
        "csrf": identity.csrf if identity else "",
        "own_path": request.environ["PATH_INFO"],
        "own_url": lambda: make_own_url(context, request.environ),
        "choices_of_projects": (),
        "frame": _build_frame(context, identity)
        if identity and not identity.has_default_password
        else None,
        "ui": context.config["ui"],
        "emergency": _read_emergency(context) if identity else None,
        "newer_version": context.version_status.newer_version if identity else "",
    }
    return html(context.render.render(template, **(shared | values)).encode(), status)


def html(body: bytes, status: int = 200) -> HTTPResponse:
    return HTTPResponse(body, status, {"Content-Type": HTML})


def _build_frame(context: Context, identity: Identity) -> Frame:
    releases = context.release_watch.counts
    count = releases.running + releases.on_hold
    text, style = f"under way, {releases.on_hold} on hold", "waits" if releases.on_hold else ""
    counts = {"/admin/releases": (str(count), text, style)} if count else {}
    return build_frame(identity, request.environ["PATH_INFO"], counts)


def _read_emergency(context: Context) -> Emergency:
    """As of the last run of the job of releases."""
    return emergency.decode(context.release_watch.emergency_text, context.clock.now())


def redirect(context: Context, path: str, status: int = 303) -> HTTPResponse:
    """A redirect to a path of this service; its URL is never built from the Host header. Quotes
    what a header can't contain, such as a line break in the name of a flag."""
    location = context.prefix + quote(path, safe="!#$%&'()*+,/:;=?@[]~")
    return HTTPResponse(b"", status, {"Location": location, "Content-Type": HTML})


def find_notice(notices: Mapping[str, str]) -> str:
    """The message of `notices` that the query parameter `done` of a redirect names, or "". Raises
    BadDataError for an invalid query."""
    return notices.get(read_query(request.environ).get("done", ""), "")
