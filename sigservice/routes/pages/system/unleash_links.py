"""Redirects of the addresses of Unleash's pages, in old messages and in tools, and of pages that
moved."""

from urllib.parse import quote

from sigservice.web import Context, HTTPResponse, Public, Router, request, respond

_LISTS = {
    "/projects": "/admin/projects",
    "/features": "/admin/features",
    "/segments": "/admin/segments",
    "/context": "/admin/context",
    "/integrations": "/admin/integrations",
    "/admin/api": "/admin/api-tokens",
}
router = Router(Public)  # the page decides who may see it


@router.get("/projects")
@router.get("/features")
@router.get("/segments")
@router.get("/context")
@router.get("/integrations")
@router.get("/admin/api")
def redirect_list(context: Context) -> HTTPResponse:
    return respond.redirect(context, _LISTS[request.environ["PATH_INFO"]])


@router.get("/admin/actions")
def redirect_moved(context: Context) -> HTTPResponse:
    return respond.redirect(context, "/admin/automation", 301)


@router.get("/projects/<rest:path>")
def redirect_project(context: Context, rest: str) -> HTTPResponse:
    """`rest` is a project, with or without `/features/<name>`, or with a tab behind it."""
    project, *more = rest.split("/")
    if len(more) > 1 and more[0] == "features":
        return respond.redirect(context, f"/admin/features/{quote(more[1], safe='')}")
    return respond.redirect(context, f"/admin/projects/{quote(project, safe='')}/overview")


@router.get("/features/<rest:path>")
def redirect_feature(context: Context, rest: str) -> HTTPResponse:
    """`rest` is a flag, in old versions behind a tab."""
    return respond.redirect(context, f"/admin/features/{quote(rest.rpartition('/')[2], safe='')}")
