"""`sigservice check-config`: each option's value, where it came from, and what is risky."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from sigservice.config.load import Loaded, load_config
from sigservice.config.options import OPTIONS

MASKED = "(set, not shown)"


def report(loaded: Loaded) -> list[dict[str, Any]]:
    """A row {option, variable, value, source, status} for each option; secrets are masked."""
    rows = []
    for option in OPTIONS:
        if not option.in_code:
            continue
        value: Any = loaded.config
        for part in option.path.split("."):
            value = value[part]
        source = loaded.sources[option.path]
        if option.path == "authentication.initialAdminUser" and value:
            value = {"username": value["username"], "password": MASKED}
        elif option.secret and value:
            value = MASKED
        elif callable(value):
            value = "(a function)"
        rows.append(
            {
                "option": option.path,
                "variable": option.env,
                "value": value,
                "source": source,
                "status": option.status,
            }
        )
    return rows


def risks(loaded: Loaded) -> list[str]:
    """What a careful person would change before others use the service."""
    config = loaded.config
    lines = list(loaded.warnings)
    if config["authentication"]["initialAdminIsBuiltIn"]:
        lines.append("The first admin has the built-in password until the first sign-in.")
    if not config["server"]["unleashUrl"]:
        lines.append("SERVICE_URL is not set: links use localhost, cookies are not marked Secure.")
    if not config["email"]["host"]:
        lines.append("No mail server is set: no mails are sent.")
    if not config["server"]["metricsToken"] and config["server"]["serverMetrics"]:
        lines.append("The metrics are open to everybody (SERVICE_METRICS_TOKEN closes them).")
    if config["webhooks"]["allowPrivate"]:
        lines.append("Notifications may go to private addresses (SERVICE_WEBHOOK_ALLOW_PRIVATE).")
    for option in OPTIONS:
        if option.status == "accepted" and loaded.sources[option.path] != "default":
            lines.append(f"{option.path} is accepted but has no effect yet.")
    return lines


def main(environ: Mapping[str, str], form: str) -> int:
    """Prints the report; ConfigError for wrong values is the caller's."""
    loaded = load_config(None, environ)
    rows, lines = report(loaded), risks(loaded)
    if form == "json":
        sys.stdout.write(json.dumps({"options": rows, "risks": lines}, indent=2) + "\n")
        return 0
    width = max(len(row["option"]) for row in rows)
    for row in rows:
        value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"])
        sys.stdout.write(f"{row['option']:<{width}}  {value}  [{row['source']}]\n")
    for line in lines:
        sys.stdout.write(f"risk: {line}\n")
    return 0
