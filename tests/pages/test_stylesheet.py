"""The stylesheet: contrast of its colours in both schemes, sizes of type, whole words."""

from __future__ import annotations

import colorsys
import re
from itertools import product

import pytest

from sigservice.paths import resource_dir

STYLES = re.sub(r"/\*.*?\*/", "", (resource_dir("static") / "app.css").read_text(), flags=re.DOTALL)
LIGHT, DARK = (
    dict(re.findall(r"(--[\w-]+): (#\w{6});", block))
    for block in re.findall(r":root \{(.*?)\}", STYLES, re.DOTALL)[:2]
)
SCHEMES = {"light": LIGHT, "dark": {**LIGHT, **DARK}}
TEXTS = ("--text", "--muted", "--gets", "--off", "--broken", "--waits", "--link")
PANELS = {
    "--gets": "--gets-panel",
    "--off": "--code",
    "--broken": "--broken-panel",
    "--waits": "--waits-panel",
    "--link": "--selected",
}
CHARTS = [f"--chart-{number}" for number in range(1, 6)]
SIZES = {f"--text-{size}" for size in (13, 14, 16, 20, 28)}


def read_channels(color: str) -> list[float]:
    return [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def find_luminance(color: str) -> float:
    channels = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in read_channels(color)
    ]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


def find_contrast(first: str, second: str) -> float:
    low, high = sorted((find_luminance(first), find_luminance(second)))
    return (high + 0.05) / (low + 0.05)


def find_hue(color: str) -> float:
    return colorsys.rgb_to_hls(*read_channels(color))[0] * 360


@pytest.mark.parametrize("scheme", SCHEMES)
def test_texts_can_be_read_on_each_surface(scheme: str):
    colors = SCHEMES[scheme]
    pairs = [*product(TEXTS, ("--page", "--panel", "--code")), *PANELS.items()]
    pairs += [("--text", "--selected"), ("--on-link", "--link"), ("--page", "--broken")]
    faint = {pair: find_contrast(*(colors[name] for name in pair)) for pair in pairs}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_borders_of_controls_and_lines_of_charts_can_be_seen(scheme: str):
    colors = SCHEMES[scheme]
    for name, surface in product(["--muted", "--off", "--gets", *CHARTS], ["--page", "--panel"]):
        assert find_contrast(colors[name], colors[surface]) >= 3, (name, surface)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_of_charts_have_no_meaning(scheme: str):
    colors = SCHEMES[scheme]
    for chart, meaning in product(CHARTS, ("--gets", "--broken", "--waits")):
        distance = abs(find_hue(colors[chart]) - find_hue(colors[meaning]))
        assert min(distance, 360 - distance) >= 25, (chart, meaning)


def test_colours_are_named_once_and_used():
    rules = STYLES[STYLES.index("\n* {") :]
    assert re.findall(r"#[0-9a-f]{3,8}\b(?![^{]*\{)", rules) == []
    uses = set(re.findall(r"var\((--[\w-]+)", STYLES))
    assert {*TEXTS, *PANELS.values(), *CHARTS, "--row", "--control", "--radius"} <= uses


def test_there_are_five_sizes_of_type():
    sizes = re.findall(r"font(?:-size)?: ([^;}]*)", STYLES)
    others = [
        size for size in sizes if size != "inherit" and not any(name in size for name in SIZES)
    ]
    assert others == []


def test_words_of_cells_labels_buttons_and_tags_dont_break():
    breaking = re.findall(r"([^{}]+)\{[^{}]*(?:overflow-wrap: (?!normal)|word-break)", STYLES)
    selectors = [selector.strip() for group in breaking for selector in group.split(",")]
    whole = r"\b(t[hd]|table|label|legend|button|body)$|\.(tag|button|list|flags|menu)\b"
    assert [selector for selector in selectors if re.search(whole, selector)] == []
    normal = re.search(r"([^{}]+)\{ overflow-wrap: normal", STYLES)
    assert normal
    assert {"th", "td", "label", "button", ".tag"} <= {
        name.strip() for name in normal[1].split(",")
    }
