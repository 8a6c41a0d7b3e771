"""Progress of an import: a bar on a terminal, otherwise a line for each stage."""

import threading
from typing import TextIO

_WIDTH = 30


class Progress:
    """`start_stage` shows a new stage, `advance` (from any thread) some steps, `finish` the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._is_terminal = stream, stream.isatty()
        self._lock = threading.Lock()
        self._text, self._total, self._done = "", 0, 0

    def start_stage(self, text: str, total: int) -> None:
        self.finish()
        self._text, self._total, self._done = text, total, 0
        if self._is_terminal:
            self._draw()
        else:
            self._stream.write(f"{text}: {total}\n")
            self._stream.flush()

    def advance(self, steps: int = 1) -> None:
        with self._lock:
            self._done += steps
            if self._is_terminal:
                self._draw()

    def finish(self) -> None:
        if self._is_terminal and self._text:
            self._stream.write("\n")
            self._stream.flush()
        self._text = ""

    def _draw(self) -> None:
        filled = _WIDTH * self._done // max(1, self._total)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._stream.write(f"\r{self._text:<24} [{bar}] {self._done}/{self._total}")
        self._stream.flush()
