"""deploy/systemd/sigservice-backup.service: its commands, and what systemd says about it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import sigservice
from tests.server.process import ROOT, make_database_environ

FOLDER = ROOT / "deploy" / "systemd"
COMMAND = "/opt/sigservice/bin/sigservice"


def read_commands(state):
    """ExecStart and ExecStartPost, with systemd's specifiers replaced."""
    text = (FOLDER / "sigservice-backup.service").read_text()
    specifiers = {"%S": str(state), "%%": "%", "$$": "$"}
    text = re.sub(r"%%|%S|\$\$", lambda match: specifiers[match[0]], text)
    lines = [line.partition("=") for line in text.splitlines()]
    commands = {name: value for name, _, value in lines if name.startswith("Exec")}
    return commands["ExecStart"], commands["ExecStartPost"]


def test_commands_write_a_backup_and_delete_old_ones(database, tmp_path):
    sigservice.create({"db": database.options(), "logLevel": "error"}, {}).stop()
    folder = tmp_path / "sigservice" / "backups"
    folder.mkdir(parents=True)
    names = ("sigservice-1.backup", ".sigservice-1.backup.x.partial", "kept.txt")
    for name in names:
        (folder / name).touch()
        os.utime(folder / name, (0, 0))
    write, clean = read_commands(tmp_path)
    command = tmp_path / "sigservice.sh"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sigservice "$@"\n')
    command.chmod(0o700)
    environ = os.environ | make_database_environ(database.options()) | {"PYTHONPATH": str(ROOT)}
    for line in (write.replace(COMMAND, str(command)), clean):
        subprocess.run(shlex.split(line), env=environ, check=True, capture_output=True)
    backup, other = sorted(os.listdir(folder), reverse=True)
    assert other == "kept.txt"
    assert backup.startswith("sigservice-20")
    assert backup.endswith(".backup")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_units_are_valid(tmp_path):
    for path in FOLDER.glob("sigservice-backup.*"):
        text = path.read_text().replace(COMMAND, "/bin/true")
        (tmp_path / path.name).write_text(text)
    result = subprocess.run(
        ["systemd-analyze", "verify", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
