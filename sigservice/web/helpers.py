"""Functions that templates can call."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sigservice.clock import format_iso
from sigservice.paths import resource_dir
from sigservice.version import __version__
from sigservice.web.forms import find_errors


def template_helpers(prefix: str) -> dict[str, Callable[..., Any]]:
    """`prefix` is the public base path, which paths in templates don't have."""
    hashes = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        for file in resource_dir("static").iterdir()
        if file.is_file()
    }
    return {
        "url": lambda path, *parts: prefix + join_path(path, *parts),
        "find_errors": find_errors,
        "static": lambda name: f"{prefix}/static/{name}?v={hashes[name]}",
        "version": lambda: __version__,
        "format_iso": format_iso,
        "readable": readable,
        "plural": plural,
    }


def join_path(path: str, *parts: Any) -> str:
    """The path of `("/admin/signals", 7, "log")`, with quoted parts."""
    return path + "".join(f"/{quote(str(part), safe='')}" for part in parts)


def readable(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
