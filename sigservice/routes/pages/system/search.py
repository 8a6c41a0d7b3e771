"""Search for a flag, an endpoint, a project, a segment or a page by name: Ctrl-K on each page."""

from sigservice.repository.system import search
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.guide import load_guide
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path
from sigservice.web.navigation import list_pages

MAX_RESULTS = 8  # of each kind
MAX_WORDS = 10
PATHS = {
    "Signal endpoint": "/admin/signals",
    "Project": "/admin/projects",
    "Segment": "/admin/segments",
}

router = Router(PageGuard)


@router.get("/admin/search", needs=VIEW)
def search_names(context: Context, identity: Identity) -> Page:
    text = read_query(request.environ).get("q", "").strip()
    words = text.split()[:MAX_WORDS]
    results = [
        ("Page", item.label, item.path)
        for item in list_pages(identity)
        if all(word.lower() in item.label.lower() for word in words)
    ]
    if words:
        with context.database.autocommit() as conn:
            rows = search.find_names(
                conn, words, endpoints=identity.has_permission(ADMIN), limit=MAX_RESULTS
            )
        can_edit = identity.has_permission(EDIT)
        results = [
            _to_result(row["kind"], row["name"], row["id"], can_edit) for row in rows
        ] + results
        results += [
            ("Guide", page.title, page.path)
            for page in load_guide().pages.values()
            if not page.name.startswith("decisions")
            and all(word.lower() in page.title.lower() for word in words)
        ][:MAX_RESULTS]
    return Page("system/search/show", title="Search", text=text, results=results)


def _to_result(kind: str, name: str, id: str, can_edit: bool) -> tuple[str, str, str]:
    if kind == "Segment" and not can_edit:  # the page of a segment is a form
        return kind, name, PATHS[kind]
    if kind == "Flag":
        return kind, name, flag_path(name)
    if kind == "Action set":
        project, _, id = id.rpartition("/")
        return kind, name, join_path("/admin/projects", project, "actions", id)
    end = {"Signal endpoint": ("log",), "Project": ("overview",)}.get(kind, ())
    return kind, name, join_path(PATHS[kind], id, *end)
