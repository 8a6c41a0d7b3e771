"""Style sheet, script and icon, read once; their address holds a hash, so they are cached."""

from __future__ import annotations

import mimetypes

from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.errors import NotFoundError
from sigservice.paths import resource_dir
from sigservice.shared_body import SharedBody
from sigservice.web.area import new_area
from sigservice.web.doors import OpenDoor


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    files = {
        file.name: (
            SharedBody(file.read_bytes()),
            mimetypes.guess_type(file.name)[0] or "text/plain",
        )
        for file in resource_dir("static").iterdir()
        if file.suffix in (".css", ".js", ".svg")
    }

    @area.get("/static/<name>")
    def serve(name: str) -> HTTPResponse:
        if name not in files:
            raise NotFoundError("There is nothing at this address.")
        data, kind = files[name]
        headers = {"Content-Type": kind, "Cache-Control": "public, max-age=31536000, immutable"}
        return HTTPResponse(data, 200, headers)

    return area
