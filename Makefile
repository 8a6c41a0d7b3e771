# What people do all day. CONTRIBUTING.md has a table of it.
.PHONY: setup test external lint run screenshots

setup:
	python3 -m venv .venv
	.venv/bin/pip install --quiet -e '.[dev]'

# make test only=tests/web/test_body.py
test:
	.venv/bin/pytest $(if $(only),-n 0 $(only))

external:
	.venv/bin/pytest -m external

lint:
	.venv/bin/ruff format .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

run:
	.venv/bin/python run.py

screenshots:
	mkdir -p build/screenshots
	EVERY_PAGE=1 SCREENSHOTS=build/screenshots .venv/bin/pytest -n 0 tests/browser/test_every_page.py
	@echo "build/screenshots has every page in light, in dark and on a phone."
