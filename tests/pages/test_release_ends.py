"""When a release ends at the earliest, which its page shows and conflicts with schedules use."""

from __future__ import annotations

from datetime import datetime

from sigservice.routes.pages.release_sentences import find_end
from tests.table_tests import each

NOW = "2026-11-26T00:00:00Z"  # Thursday
STEPS = [{"rollout": 10, "minutes": 60}, {"rollout": 50, "minutes": 30}, {"rollout": 100}]
WAITING = [{"rollout": 10, "minutes": 60, "waitForPerson": True}, {"rollout": 100}]
WINDOW = {"timezone": "UTC", "days": ["mon", "thu"], "from": "09:00", "to": "16:00"}
RELEASE = {
    "state": "running", "step": 0, "steps": STEPS, "watchMinutes": 60, "window": None,
    "dueAt": None, "watchUntil": None, "startAt": None,
}  # fmt: skip
# (name, what differs from RELEASE, the end)
ENDS = (
    ("scheduled", {"state": "scheduled", "startAt": "2026-11-26T01:00:00Z"}, "2026-11-26T03:30"),
    ("starts in the first window", {"state": "scheduled", "window": WINDOW}, "2026-11-26T11:30"),
    ("running", {"dueAt": "2026-11-26T00:20:00Z"}, "2026-11-26T01:50"),
    ("overdue", {"dueAt": "2026-11-25T22:00:00Z"}, "2026-11-26T01:30"),
    ("waits for Monday", {"dueAt": "2026-11-26T15:40:00Z", "window": WINDOW}, "2026-11-30T10:00"),
    ("watched", {"step": 2, "watchUntil": "2026-11-26T17:00:00Z"}, "2026-11-26T17:00"),
    ("waits now", {"steps": WAITING, "dueAt": "2026-11-26T00:20:00Z"}, None),
    ("waits later", {"steps": [*STEPS[:2], *WAITING], "dueAt": "2026-11-26T00:20:00Z"}, None),
    ("has waited", {"steps": WAITING, "step": 1, "watchUntil": NOW}, "2026-11-26T00:00"),
    ("held", {"state": "held", "dueAt": "2026-11-26T00:20:00Z"}, None),
    ("finished", {"state": "finished", "step": 2}, None),
)


@each("row", ENDS, name=lambda row: row[0])
def test_the_end_has_all_steps_to_come_and_none_if_a_person_decides(row):
    _, changes, expected = row
    end = find_end(RELEASE | changes, datetime.fromisoformat(NOW))
    assert (end and f"{end:%Y-%m-%dT%H:%M}") == expected
