"""What the code-only options are given in the checks: functions cannot travel as JSON."""

from __future__ import annotations
