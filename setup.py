"""Adds the commit of the checkout to the wheel. Everything else is in setup.cfg."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

VERSION = runpy.run_path(str(Path(__file__).parent / "sigservice" / "version.py"))


class BuildWithCommit(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            file = Path(self.build_lib, "sigservice", VERSION["COMMIT_FILE"])
            file.write_text(VERSION["COMMIT"])


setup(cmdclass={"build_py": BuildWithCommit})
