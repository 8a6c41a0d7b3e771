"""Functions that templates can call."""

import hashlib
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from sigservice.clock import Clock, format_iso, parse_iso
from sigservice.paths import resource_dir
from sigservice.services.identity import name_actor
from sigservice.version import VERSION_WITH_COMMIT
from sigservice.web.forms import find_errors, list_folded
from sigservice.web.links import find_web_url
from sigservice.wording import plural

# The content of an SVG of 20 by 20 units, drawn with strokes.
ICONS = {
    "flag": '<path d="M5 17.5v-15m0 1h9.5l-2 3.5 2 3.5H5"/>',
    "signal": '<path d="M4 14a8.5 8.5 0 0 1 0-8m12 0a8.5 8.5 0 0 1 0 8M6.8 12.4a5 5 0 0 1 0-4.8'
    'm6.4 0a5 5 0 0 1 0 4.8"/><circle cx="10" cy="10" r="1"/>',
    "action": '<path d="M11 2 4.5 11.5H10L9 18l6.5-9.5H10z"/>',
    "chart": '<path d="M3 17h14M5.5 14V9m4.5 5V4m4.5 10V7"/>',
    "settings": '<path d="M3 6h8m4 0h2M3 14h2m4 0h8"/><circle cx="13" cy="6" r="2"/>'
    '<circle cx="7" cy="14" r="2"/>',
    "search": '<circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4"/>',
    "check": '<path d="m4 10.5 4 4 8-9"/>',
    "circle": '<circle cx="10" cy="10" r="6.5"/>',
    "alert": '<path d="M10 3 2 16.5h16zM10 8v4m0 2v.5"/>',
}


def template_helpers(prefix: str, clock: Clock) -> dict[str, Any]:
    """`prefix` is the public base path, which paths in templates don't have."""
    hashes = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        for file in resource_dir("static").iterdir()
        if file.is_file()
    }
    return {
        "url": lambda path, *parts: prefix + join_path(path, *parts),
        "find_errors": find_errors,
        "list_folded": list_folded,
        "static": lambda name: f"{prefix}/static/{name}?v={hashes[name]}",
        "version": lambda: VERSION_WITH_COMMIT,
        "format_iso": format_iso,
        "parse_iso": parse_iso,
        "format_time": lambda moment, form="": format_time(moment, clock.now(), form),
        "icons": ICONS,
        "number": number,
        "readable": readable,
        "name_actor": name_actor,
        "plural": plural,
        "find_web_url": find_web_url,
    }


def join_path(path: str, *parts: Any) -> str:
    """The path of `("/admin/signals", 7, "log")`, with quoted parts."""
    return path + "".join(f"/{quote(str(part), safe='')}" for part in parts)


def readable(moment: datetime) -> str:
    """The exact time, which static/app.js shows in the zone of the reader."""
    return f"{_format_date(moment)}, {moment.astimezone(UTC):%H:%M:%S} UTC"


def format_time(moment: datetime, now: datetime, form: str = "") -> str:
    """The text of a time: its age or what is left in the largest unit, its date from 14 days on; as
    the `form` "for" how long it lasts, as "clock" the time of day. static/app.js keeps it up to
    date."""
    seconds = (now - moment).total_seconds()
    if form == "clock":
        return f"{moment.astimezone(UTC):%H:%M}"
    if form == "" and abs(seconds) >= 14 * 86400:
        return _format_date(moment)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if abs(seconds) >= max(length, 10):
            text = f"{int(abs(seconds) // length)} {unit}"
            return f"for {text}" if form else f"{text} ago" if seconds > 0 else f"in {text}"
    return "for a moment" if form else "just now"


def _format_date(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%-d %b %Y}"


def number(count: int) -> str:
    """The number with grouped thousands, such as 12,345."""
    return f"{count:,}"
