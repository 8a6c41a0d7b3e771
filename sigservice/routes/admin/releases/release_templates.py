"""Release templates and the freeze, JSON."""

from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.releases import freeze, release_templates
from sigservice.services.releases.freeze import Freeze
from sigservice.services.releases.release_templates import NewTemplate, Template
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

TEMPLATES = "/api/admin/release-templates"
FREEZE = "/api/admin/releases/freeze"

router = Router(AdminGuard)


@router.get(TEMPLATES, needs=VIEW)
def list_templates(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json({"releaseTemplates": release_templates.list_all(conn)})


@router.post(TEMPLATES, needs=EDIT, takes=NewTemplate)
def create_template(context: Context, identity: Identity, body: NewTemplate) -> HTTPResponse:
    with context.database.transaction() as conn:
        template = release_templates.create(conn, body, identity)
    location = f"{context.prefix}{TEMPLATES}/{body.name}"
    return respond.json(template, 201, location=location)


@router.get(f"{TEMPLATES}/<name>", needs=VIEW)
def show_template(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(release_templates.get(conn, name))


@router.put(f"{TEMPLATES}/<name>", needs=EDIT, takes=Template)
def replace_template(
    context: Context, identity: Identity, name: str, body: Template
) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(release_templates.replace(conn, name, body, identity))


@router.delete(f"{TEMPLATES}/<name>", needs=EDIT)
def delete_template(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        release_templates.delete(conn, name, identity)
    return respond.empty()


@router.get(FREEZE, needs=VIEW)
def show_freeze(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(freeze.read_freeze(conn))


@router.put(FREEZE, needs=ADMIN, takes=Freeze)
def set_freeze(context: Context, identity: Identity, body: Freeze) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(freeze.set_freeze(conn, body, identity))
