"""The guide: the pages of docs/."""

from sigservice.errors import NotFoundError
from sigservice.services.identity import VIEW, Identity
from sigservice.web import Context, Page, PageGuard, Router, respond
from sigservice.web.guide import GUIDE_PATH, load_guide, render_guide_page

FIRST = "quickstart"
GROUPS = {"": "Pages", "senders": "Senders", "decisions": "Decisions"}

router = Router(PageGuard)


@router.get("/docs/guide", needs=VIEW)
def list_guide_pages(context: Context, identity: Identity) -> Page:
    pages = sorted(load_guide().pages.values(), key=lambda page: (page.name != FIRST, page.name))
    groups = [
        (label, [page for page in pages if _get_folder(page.name) == folder])
        for folder, label in GROUPS.items()
    ]
    return Page("system/guide/list", title="Guide", groups=groups)


@router.get("/docs/guide/<name:path>", needs=VIEW)
def show_guide_page(context: Context, identity: Identity, name: str) -> Page:
    guide = load_guide()
    if name in guide.examples:
        return respond.text(guide.examples[name].read_text(encoding="utf-8"))
    if name not in guide.pages:
        raise NotFoundError("There is no such page in the guide.")
    page = guide.pages[name]
    content = render_guide_page(name, context.prefix)
    return Page(
        "layout",
        title=f"Guide: {page.title}",
        breadcrumbs=[("Guide", GUIDE_PATH)],
        base=f'<article class="guide">{content}</article>',
    )


def _get_folder(name: str) -> str:
    """The group of a page; the page of a folder belongs to its pages."""
    first = name.partition("/")[0]
    return first if first in GROUPS else ""
