"""Start the service from a checkout: `python run.py`. Python 3.8 can parse this file."""

import sys

INSTALL = "python3 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/python run.py"


def find_problem() -> str:
    """Why the service can't be imported, or ""."""
    if sys.version_info < (3, 11):  # noqa: UP036
        version = sys.version.split()[0]
        return f"sigservice needs Python 3.11 or later, this is {version}: {INSTALL}"
    try:
        import sigservice.commands.run  # noqa: F401
    except ModuleNotFoundError as error:
        return f"The package {error.name} is not installed: {INSTALL}"
    return ""


if __name__ == "__main__":
    if problem := find_problem():
        sys.exit(problem)
    from sigservice.__main__ import main

    sys.exit(main())
