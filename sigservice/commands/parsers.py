"""The parsers of commands, whose --help says what a command does and has an example."""

import argparse
import textwrap
from typing import Any

_WIDTH = 80


def add_parser(
    commands: Any, name: str, summary: str, details: str, example: str
) -> argparse.ArgumentParser:
    """Adds the command and returns its parser. `summary`, without a period, is also in the list of
    commands."""
    text = f"{summary[0].upper()}{summary[1:]}. {details}"
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=textwrap.fill(text, _WIDTH),
        epilog=f"Example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser
