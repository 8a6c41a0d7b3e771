"""The pattern that the names of a project's new flags must match. Existing flags keep their names.

RE2 searches in linear time, so a pattern can't stall a request; lookarounds and backreferences are
rejected.
"""

import re

import msgspec

from sigservice.db import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.projects import projects
from sigservice.services.flags.constraints import compile_pattern
from sigservice.services.problems import Problems

_WHITE_SPACE = re.compile(r"\s")


class FeatureNaming(msgspec.Struct):
    """Without a pattern every name is allowed. `example` and `description` are shown to users."""

    pattern: str | None = None
    example: str | None = None
    description: str | None = None


def read(conn: Connection, project: str) -> FeatureNaming:
    """The naming of a project. Raises NotFoundError."""
    row = projects.find_feature_naming(conn, project)
    if row is None:
        raise NotFoundError(f"Project {project} not found.")
    return parse(row["feature_naming"])


def parse(text: str | None) -> FeatureNaming:
    """The stored naming, which is None without a pattern."""
    return msgspec.json.decode(text, type=FeatureNaming) if text else FeatureNaming()


def check(naming: FeatureNaming, problems: Problems, path: str = "featureNaming") -> FeatureNaming:
    """Returns the naming as it is stored and records errors in `problems`."""
    naming = FeatureNaming(
        naming.pattern or None, naming.example or None, naming.description or None
    )
    problems.check_text(naming.example, f"{path}.example", max_length=100)
    problems.check_text(naming.description, f"{path}.description", max_length=1000)
    if naming.pattern is None:
        for name in ("example", "description"):
            if getattr(naming, name):
                problems.add(f"{path}.{name}", f"The {name} needs a pattern.")
        return naming
    pattern = compile_pattern(naming.pattern)
    if pattern is None:
        text = "The pattern must be a regular expression in RE2 syntax of at most 1000 characters."
        problems.add(f"{path}.pattern", text)
    elif _WHITE_SPACE.search(naming.pattern):
        problems.add(f"{path}.pattern", "The pattern must not contain white space.")
    elif naming.example and pattern.fullmatch(naming.example) is None:
        problems.add(f"{path}.example", "The example must match the pattern.")
    return naming


def find_mismatch(naming: FeatureNaming, name: str) -> str | None:
    """Why the project allows no flag with this name, None if it does."""
    pattern = compile_pattern(naming.pattern) if naming.pattern else None
    if pattern is None or pattern.fullmatch(name) is not None:
        return None
    hints = [naming.description or "", f"Example: {naming.example}." if naming.example else ""]
    text = f"The name must match the pattern of the project, {naming.pattern}"
    return " ".join([text, *filter(None, hints)])
