"""Style sheet, script and icon. Their URLs contain a hash, so that browsers cache them."""

import mimetypes
from functools import cache

from sigservice.concurrency.shared_body import SharedBody
from sigservice.errors import NotFoundError
from sigservice.paths import resource_dir
from sigservice.web import Context, HTTPResponse, Public, Router

router = Router(Public)


@router.get("/static/<name>")
def serve_static_file(context: Context, name: str) -> HTTPResponse:
    files = _read_files()
    if name not in files:
        raise NotFoundError("Page not found.")
    data, kind = files[name]
    headers = {"Content-Type": kind, "Cache-Control": "public, max-age=31536000, immutable"}
    return HTTPResponse(data, 200, headers)


@cache
def _read_files() -> dict[str, tuple[SharedBody, str]]:
    """Body and media type by file name."""
    return {
        file.name: (
            SharedBody(file.read_bytes()),
            mimetypes.guess_type(file.name)[0] or "text/plain",
        )
        for file in resource_dir("static").iterdir()
        if file.suffix in (".css", ".js", ".svg")
    }
