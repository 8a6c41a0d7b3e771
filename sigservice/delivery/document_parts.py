"""Puts a client document together: the texts of its flags in parts that are compressed separately.

The dictionary of a part is the end of the part before it, which a decoder has in its window there.
So the parts form one gzip stream, hardly larger than one compressed as a whole, and after a change
only its part and the next one are compressed again.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from sigservice.delivery.checksums import combine, find_shift
from sigservice.delivery.flag_groups import Group
from sigservice.delivery.flag_state import FlagState
from sigservice.services.flags.client_features import Flag, Query, build_etag

HEAD = b'{"version":2,"features":['
LEVEL = 5
_WINDOW = 2**15
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


class CompressedText(NamedTuple):
    """`crc` and `shift` belong to the text, see checksums.py."""

    data: bytes
    crc: int
    shift: int


class Part:
    """Flags of consecutive groups that a query selects. It never changes."""

    def __init__(
        self, groups: Sequence[Group], texts: Sequence[bytes], segment_ids: frozenset[int]
    ) -> None:
        self.groups, self.texts, self.segment_ids = groups, texts, segment_ids
        self.size = sum(map(len, texts)) + len(texts)  # with the commas
        self._compressed: tuple[Part | None, CompressedText] | None = None

    @property
    def window(self) -> bytes:
        """The content of a decoder's window after this part."""
        return b",".join(self.texts)[-_WINDOW:]

    def join(self, before: Part | None) -> bytes:
        """The texts that follow `before`, or the head of the document."""
        return (b"," if before else HEAD) + b",".join(self.texts)

    def compress(self, before: Part | None) -> CompressedText:
        """The texts of `join`, compressed."""
        compressed = self._compressed
        if compressed is None or compressed[0] is not before:
            text, window = self.join(before), before.window if before else b""
            compressed = self._compressed = before, _deflate(text, window, zlib.Z_SYNC_FLUSH)
        return compressed[1]


class PartedDocument:
    """The document of one query in one state."""

    def __init__(self, query: Query, state: FlagState, former: PartedDocument | None) -> None:
        """Shares the unchanged parts of `former`, which is of the same query."""
        self._query, self.state = query, state
        self._inlined = state.segments if query.inline else None
        can_share = former is not None and former._inlined == self._inlined
        self._by_group: dict[Group, list[Flag]] = {}
        self._parts = self._build_parts(former if can_share else None)
        self.revision, self.etag = state.revision, build_etag(query, state.revision)
        self._end = self._write_end()
        commas = 1 if self._parts else 0  # that the sizes count too many
        self.size = len(HEAD) + sum(it.size for it in self._parts) - commas + len(self._end)

    def _build_parts(self, former: PartedDocument | None) -> list[Part]:
        selected = former._by_group if former else {}
        runs: list[list[Group]] = []
        for group in self.state.flags.groups:
            flags = selected.get(group)
            if flags is None:
                flags = [flag for flag in group.flags.values() if _selects(self._query, flag)]
            self._by_group[group] = flags
            # A part begins where a group does whose first flag is selected, so that parts are large
            # even if few flags are selected.
            if flags and (not runs or flags[0].name == group.first):
                runs.append([])
            if flags:
                runs[-1].append(group)
        parts = {tuple(part.groups): part for part in former._parts} if former else {}
        return [parts.get(tuple(run)) or self._build_part(run) for run in runs]

    def join(self) -> bytes:
        """The document, {version, features, query, segments, meta}; without `segments` when they
        are inlined."""
        texts = list(chain.from_iterable(part.texts for part in self._parts)) or [b""]
        texts[0] = HEAD + texts[0]
        texts[-1] += self._end  # so that the large text is copied once
        return b",".join(texts)

    def compress(self) -> bytes:
        """The document in gzip."""
        compressed, before = [], None
        for part in self._parts:
            compressed.append(part.compress(before))
            before = part
        end = self._end if before else HEAD + self._end
        compressed.append(_deflate(end, before.window if before else b"", zlib.Z_FINISH))
        crc = 0
        for text in compressed:
            crc = combine(crc, text.crc, text.shift)
        trailer = struct.pack("<LL", crc, self.size % 2**32)
        return b"".join([_GZIP_HEAD, *(text.data for text in compressed), trailer])

    def _write_end(self) -> bytes:
        query = self._query
        meta = {"revisionId": self.state.document_id, "etag": self.etag, "queryHash": query.hash}
        segments = b"" if query.inline else b',"segments":[%b]' % b",".join(self._list_segments())
        return b'],"query":%b%b,"meta":%b}' % (
            msgspec.json.encode(query.to_json()),
            segments,
            msgspec.json.encode(meta),
        )

    def _build_part(self, groups: Sequence[Group]) -> Part:
        flags = [flag for group in groups for flag in self._by_group[group]]
        texts = [write_flag(flag, self._query, self.state.segments) for flag in flags]
        return Part(groups, texts, frozenset(id for flag in flags for id in flag.segment_ids))

    def _list_segments(self) -> list[bytes]:
        ids = frozenset[int]().union(*(part.segment_ids for part in self._parts))
        return [self.state.segments[id] for id in sorted(ids)]


def find_text(state: FlagState, query: Query, name: str) -> bytes | None:
    """The text of one flag; None when the query has no such flag."""
    flag = state.flags.find(name)
    if flag is None or not _selects(query, flag):
        return None
    return write_flag(flag, query, state.segments)


def write_flag(flag: Flag, query: Query, segments: Mapping[int, bytes]) -> bytes:
    """The text of the flag. For old SDKs, its strategies have the constraints of their segments."""
    if not (query.inline and flag.segment_ids):
        return flag.text
    document = msgspec.json.decode(flag.text, type=dict[str, msgspec.Raw])
    strategies = msgspec.json.decode(document["strategies"], type=list[dict[str, msgspec.Raw]])
    for strategy in strategies:
        if "segments" in strategy:
            ids = msgspec.json.decode(strategy.pop("segments"), type=list[int])
            constraints = [
                strategy.get("constraints", msgspec.Raw(b"[]")),  # an upstream may omit them
                *(_read_constraints(segments[id]) for id in ids),
            ]
            items = [
                item
                for texts in constraints
                for item in msgspec.json.decode(texts, type=list[msgspec.Raw])
            ]
            strategy["constraints"] = msgspec.Raw(msgspec.json.encode(items))
    document["strategies"] = msgspec.Raw(msgspec.json.encode(strategies))
    return msgspec.json.encode(document)


def _read_constraints(segment: bytes) -> msgspec.Raw:
    return msgspec.json.decode(segment, type=dict[str, msgspec.Raw])["constraints"]


def _selects(query: Query, flag: Flag) -> bool:
    return (
        (query.projects is None or flag.project in query.projects)
        and flag.name.startswith(query.prefix)
        and (not query.tags or any(f"{type}:{value}" in flag.tags for type, value in query.tags))
    )


def _deflate(text: bytes, window: bytes, flush: int) -> CompressedText:
    if window:
        compressor = zlib.compressobj(LEVEL, wbits=-zlib.MAX_WBITS, zdict=window)
    else:
        compressor = zlib.compressobj(LEVEL, wbits=-zlib.MAX_WBITS)
    data = compressor.compress(text) + compressor.flush(flush)
    return CompressedText(data, zlib.crc32(text), find_shift(len(text)))
