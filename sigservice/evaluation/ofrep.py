"""The answers of OFREP, the OpenFeature Remote Evaluation Protocol: each flag with its value, its
reason and its variant, also when it is disabled.
"""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.evaluation.all_flags import AllFlags
from sigservice.evaluation.fields import Fields, never
from sigservice.evaluation.flags import Entry, Flag, run

STATIC, DISABLED = "STATIC", "DISABLED"
TARGETING_MATCH, SPLIT = "TARGETING_MATCH", "SPLIT"


# The toggle of the frontend API, None if the flag is disabled for the context, and the reason. A
# plain tuple: a named one takes longer to create than a constraint to evaluate.
Result = tuple[bytes | None, str]


def evaluate_flag(flag: Flag, fields: Fields) -> Result:
    """The reason is DISABLED if the flag is disabled in the environment, STATIC if each context has
    the same result, SPLIT if a percentage or a weight decided, otherwise TARGETING_MATCH."""
    if not flag.is_on:
        return None, DISABLED
    if isinstance(flag.entry, bytes):
        return flag.entry, STATIC
    if flag.is_enabled is never:
        return None, STATIC
    fields.has_read_bucket = has_bucket = False
    if flag.parents and not all(matches(fields) for matches in flag.parents):
        return None, _name_reason(fields.has_read_bucket)
    for matches, entry in flag.cases:
        fields.has_read_bucket = False
        if matches(fields):
            toggle = run(entry, fields)
            return toggle, _name_reason(fields.has_read_bucket)
        has_bucket = has_bucket or fields.has_read_bucket
    return None, _name_reason(has_bucket)


class OfrepFlags(AllFlags):
    """The answers to all flags. They are JSON objects, as in the bulk answer."""

    @staticmethod
    def compile(name: str, flag: Flag) -> Entry:
        answers: dict[Result, bytes] = {}  # few: each variant with each reason

        def answer(fields: Fields) -> bytes:
            result = evaluate_flag(flag, fields)
            text = answers.get(result)
            if text is None:
                text = answers[result] = encode_answer(name, result)
            return text

        is_constant = isinstance(flag.entry, bytes) or flag.is_enabled is never
        return answer(Fields({})) if is_constant else answer


def encode_answer(name: str, result: Result) -> bytes:
    """The value is the payload of the variant, otherwise whether the flag is enabled."""
    toggle, reason = result
    is_enabled = toggle is not None
    variant = read_variant(result)
    payload = variant and variant.get("payload")
    answer = {
        "key": name,
        "value": _read_value(payload) if payload else is_enabled,
        "reason": reason,
        "variant": variant and variant["name"],
        "metadata": {"enabled": is_enabled},
    }
    return msgspec.json.encode(answer)


def read_variant(result: Result) -> Mapping[str, Any] | None:
    """The variant of the result; None without one."""
    toggle, _ = result
    variant = msgspec.json.decode(toggle)["variant"] if toggle else None
    return variant if variant and variant["enabled"] else None


def _name_reason(has_bucket: bool) -> str:
    return SPLIT if has_bucket else TARGETING_MATCH


def _read_value(payload: Mapping[str, str]) -> Any:
    """JSON and numbers as they are written: clients may tell 5 from 5.0. What is invalid, and every
    other type, is text."""
    type, text = payload["type"], payload["value"]
    if type not in ("json", "number"):
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return _parse_number(text) if type == "number" else text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return msgspec.Raw(text.encode()) if type == "json" or is_number else text


def _parse_number(text: str) -> int | float | str:
    """A number that JSON can't write like this, such as +5 or .5; otherwise the text."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
