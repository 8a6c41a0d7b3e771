"""The pages in Chromium: first paint on a slow processor, and their weight.

usage: python bench/pages.py [--rounds 5]
100 flags of seed.py, three environments. The processor is slowed down 4 times, as on a phone; each
page is loaded with an empty cache. Targets: first paint within 300 ms, at most 120 kB with style
and script, not compressed. Needs the Python package playwright and Debian's chromium.
"""

import argparse
import statistics
import sys

from playwright.sync_api import Page, sync_playwright
from seed import seed_flags
from service import run_service

MAX_PAINT_MS, MAX_BYTES = 300, 120_000
PASSWORD = "a password of the bench"
SETTINGS = {
    "SERVICE_DEFAULT_ADMIN_USERNAME": "bench",
    "SERVICE_DEFAULT_ADMIN_PASSWORD": PASSWORD,
    "CHECK_VERSION": "false",
}
PAGES = (
    "/",
    "/admin/features",
    "/admin/features/flag-001",
    "/admin/features/flag-001/environments/production/strategies/new",
    "/admin/signals",
    "/admin/projects/default/actions/new",
    "/admin/events",
    "/admin/projects",
)
# The policy of the pages forbids the eval of wait_for_function.
WAIT = """() => new Promise((resolve) => new PerformanceObserver((list) => {
  if (list.getEntriesByName("first-contentful-paint").length) resolve();
}).observe({ type: "paint", buffered: true }))"""
READ = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  bytes: ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
    .reduce((sum, entry) => sum + entry.decodedBodySize, 0),
})"""


def measure(page: Page, path: str, rounds: int) -> tuple[float, int]:
    """The median first paint in milliseconds, and the bytes of the page with style and script."""
    results = []
    for _ in range(rounds + 1):  # the first one warms up
        page.goto(path)
        page.evaluate(WAIT)
        results.append(page.evaluate(READ))
    paint = statistics.median(result["paint"] for result in results[1:])
    return paint, max(result["bytes"] for result in results)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    is_missed = False
    with run_service(**SETTINGS) as service, sync_playwright() as playwright:
        base_url = f"http://127.0.0.1:{service.port}"
        seed_flags(service)
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(base_url=base_url, viewport={"width": 1280, "height": 900})
        page.goto("/sign-in")
        page.fill("#username", "bench")
        page.fill("#password", PASSWORD)
        page.press("#password", "Enter")
        page.wait_for_url(f"{base_url}/")
        devtools = page.context.new_cdp_session(page)
        devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        print(f"{'page':66} {'paint ms':>8} {'kB':>6}")
        for path in PAGES:
            paint, size = measure(page, path, rounds)
            is_slow = paint > MAX_PAINT_MS or size > MAX_BYTES
            is_missed |= is_slow
            print(f"{path:66} {paint:8.0f} {size / 1000:6.1f} {'MISSED' if is_slow else ''}")
        browser.close()
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
