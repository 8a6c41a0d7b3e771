"""Release templates and the freeze, JSON."""

from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.releases import freeze, release_templates
from sigservice.services.releases.freeze import Freeze
from sigservice.services.releases.release_templates import NewTemplate, Template
from sigservice.web import AdminGuard, Connection, Json, Router, respond

TEMPLATES = "/api/admin/release-templates"
FREEZE = "/api/admin/releases/freeze"

router = Router(AdminGuard)


@router.get(TEMPLATES, needs=VIEW)
def list_templates(conn: Connection, identity: Identity) -> Json:
    return {"releaseTemplates": release_templates.list_all(conn)}


@router.post(TEMPLATES, needs=EDIT, takes=NewTemplate)
def create_template(conn: Connection, identity: Identity, body: NewTemplate) -> Json:
    template = release_templates.create(conn, body, identity)
    return respond.Created(template, f"{TEMPLATES}/{body.name}")


@router.get(f"{TEMPLATES}/<name>", needs=VIEW)
def show_template(conn: Connection, identity: Identity, name: str) -> Json:
    return release_templates.get(conn, name)


@router.put(f"{TEMPLATES}/<name>", needs=EDIT, takes=Template)
def replace_template(conn: Connection, identity: Identity, name: str, body: Template) -> Json:
    return release_templates.replace(conn, name, body, identity)


@router.delete(f"{TEMPLATES}/<name>", needs=EDIT)
def delete_template(conn: Connection, identity: Identity, name: str) -> None:
    release_templates.delete(conn, name, identity)


@router.get(FREEZE, needs=VIEW)
def show_freeze(conn: Connection, identity: Identity) -> Json:
    return freeze.read_freeze(conn)


@router.put(FREEZE, needs=ADMIN, takes=Freeze)
def set_freeze(conn: Connection, identity: Identity, body: Freeze) -> Json:
    return freeze.set_freeze(conn, body, identity)
