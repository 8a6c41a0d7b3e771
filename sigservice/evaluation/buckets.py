"""Buckets: the hash that spreads users evenly and always gives a user the same number.

murmur3 (32 bits) of `group:identifier`, as in all SDKs.
"""

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter, itemgetter

from mmh3 import hash as murmur3

from sigservice.evaluation.fields import Fields, Predicate, always, never

VARIANT_SEED = 86028157


@lru_cache(1000)
def compile_rollout(field: str, group: str, percentage: int) -> Predicate:
    """Whether the user is in the first `percentage` of 100 buckets; an absent field never is. Equal
    rollouts share a function, which saves memory."""
    if percentage == 0:
        return never
    if percentage == 100 and field in ("random", "default"):
        return always
    read, prefix = _make_stickiness_reader(field), f"{group}:"
    if percentage == 100:
        return lambda fields: read(fields) is not None

    def is_in_rollout(fields: Fields) -> bool:
        identifier = read(fields)
        if identifier is None:
            if field != "default":
                return False
            identifier = fields.read_random()
        fields.has_read_bucket = True
        fields.rollout_bucket = murmur3(prefix + identifier, 0, False) % 100
        return fields.rollout_bucket < percentage

    return is_in_rollout


def compile_variant_bucket(field: str, group: str, total_weight: int) -> Callable[[Fields], int]:
    """Returns a number from 0 to `total_weight` - 1; with an absent field a random one."""
    read, prefix = _make_stickiness_reader(field), f"{group}:"

    def find_bucket(fields: Fields) -> int:
        identifier = read(fields)
        if identifier is None:
            identifier = fields.read_random()
        fields.has_read_bucket = True
        return murmur3(prefix + identifier, VARIANT_SEED, False) % total_weight

    return find_bucket


def _make_stickiness_reader(field: str) -> Callable[[Fields], str | None]:
    """Returns what a user sticks to: the value of the field, or None if it is absent."""
    if field == "random":
        return Fields.read_random
    return attrgetter("identity") if field == "default" else itemgetter(field)
