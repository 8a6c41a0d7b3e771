"""Variables that are probably meant for this service but have an unknown name."""

import difflib
import re
from collections.abc import Mapping

from sigservice.config.options import OPTIONS
from sigservice.config.risk import Risk

_OURS = ("SERVICE_", "DATABASE_", "RELAY_")
_THEIRS = "UNLEASH_"
# Names that differ in more than the prefix.
_MOVED = {
    "INIT_BACKEND_API_TOKENS": "INIT_CLIENT_API_TOKENS",
    "SERVICE_PORT": "HTTP_PORT",
    "SERVICE_HOST": "HTTP_HOST",
}
_OF_COMMANDS = {"SERVICE_TOKEN"}
# Names in lower case that have an effect.
_LOWERCASE = {option.env.lower() for option in OPTIONS if option.section == "Outgoing connections"}


def find_unknown(environ: Mapping[str, str]) -> list[Risk]:
    """A warning for each such variable. Values are not read."""
    names = sorted({option.env for option in OPTIONS if option.env})
    risks = []
    for name in sorted(set(environ) - {*names, *_OF_COMMANDS}):
        is_other_case = name.upper() in names and name not in _LOWERCASE
        if not (is_other_case or re.fullmatch(r"[A-Z][A-Z0-9_]*", name)):
            continue
        suggestion = name.upper() if is_other_case else find_nearest(name, names)
        if name in _MOVED or name.startswith(_THEIRS):
            suggestion = suggestion or "listed in docs/configuration.md"
            risks.append(
                Risk("warning", name, f"{name} is ignored; the supported name is {suggestion}.")
            )
        elif suggestion or name.startswith(_OURS):
            hint = f"; did you mean {suggestion}?" if suggestion else "."
            risks.append(Risk("warning", name, f"{name} is not a variable of this service{hint}"))
    return risks


def find_nearest(name: str, names: list[str]) -> str:
    """The name of this service that `name` resembles most, or "".

    Other programs have similar variables. So a name with a foreign prefix must share the first word
    with a close match, or be the beginning of exactly one name.
    """
    if name in _MOVED:
        return _MOVED[name]
    ours = name.startswith((*_OURS, _THEIRS))
    text = re.sub(f"^{_THEIRS}", "SERVICE_", name)
    if text in names:
        return text
    if ours:
        # DATABASE_HOSTNAME is as close to DATABASE_NAME as to DATABASE_HOST.
        beginnings = sorted((other for other in names if text.startswith(other)), key=len)
        near = (
            difflib.get_close_matches(text, names, 1, cutoff=0.9)
            or beginnings[-1:]
            or difflib.get_close_matches(text, names, 1)
        )
        return near[0] if near else ""
    longer = [other for other in names if other.startswith(f"{name}_") and "_" in name]
    if len(longer) == 1:
        return longer[0]
    alike = [other for other in names if other.partition("_")[0] == name.partition("_")[0]]
    near = difflib.get_close_matches(name, alike, 1, cutoff=0.8)
    return near[0] if near else ""
