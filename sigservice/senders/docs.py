"""Generates the pages of senders: `python -m sigservice.senders.docs docs/senders`.

A page.md has {{title}}, {{endpoint}}, {{setup}} and {{firing}} where these belong.
"""

import re
import sys
from pathlib import Path

from sigservice.senders import FOLDER, Sender, load_senders

_PLACE = re.compile(r"\{\{(title|endpoint|setup|firing)\}\}")
_ROWS = re.compile(r"(?:^\| \[.*\n)+", re.MULTILINE)


def write_pages(source: Path, target: Path) -> None:
    """Writes the page of each sender of the folder `source`, and the rows of the index."""
    senders = [item for item in load_senders(source).values() if not item.is_internal]
    for sender in senders:
        page = _render_page(sender, source / sender.name)
        (target / Path(sender.page).name).write_text(page, encoding="utf-8")
    index = target / "README.md"
    rows = "".join(_render_row(sender) for sender in senders)
    text = _ROWS.sub(lambda _: rows, index.read_text(encoding="utf-8"), count=1)
    index.write_text(text, encoding="utf-8")


def _render_page(sender: Sender, folder: Path) -> str:
    sample = (folder / "samples" / "firing.json").read_text(encoding="utf-8")
    texts = {
        "title": sender.title,
        "endpoint": f"Create an endpoint with the template `{sender.name}` "
        f"([how](README.md#create-the-endpoint)).\n{sender.credentials}",
        "setup": f"```text\n{sender.setup}```",
        "firing": f"```json\n{sample}```",
    }
    page = (folder / "page.md").read_text(encoding="utf-8")
    return _PLACE.sub(lambda match: texts[match[1]], page)


def _render_row(sender: Sender) -> str:
    paths = ", ".join(f"`{path}`" for path in sender.endpoint_options.idempotency.paths)
    link = f"[{sender.title}]({Path(sender.page).name})"
    credentials = sender.credentials.removeprefix("The sender ").removesuffix(".")
    cells = (link, f"`{sender.name}`", credentials, paths or sender.deliveries)
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    write_pages(FOLDER, Path(sys.argv[1]))
