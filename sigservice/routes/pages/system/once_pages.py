"""The results of forms that are shown once, after the redirect."""

from bottle import HTTPResponse

from sigservice.services.identity import VIEW, Identity
from sigservice.web import Context, PageGuard, Router, once_pages, read_query, request, respond
from sigservice.web.guards import make_next_path

router = Router(PageGuard)


@router.get(f"{once_pages.PATH}/<name>", needs=VIEW)
def show_page(context: Context, identity: Identity, name: str) -> HTTPResponse | str:
    if request.method == "HEAD":  # it would delete the page, unseen
        return respond.html(b"")
    page = once_pages.take(context, identity, name)
    if page is None:
        return make_next_path(read_query(request.environ).get("next", "/"))
    return respond.html(page)
