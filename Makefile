# Every target sets up what it needs; nothing has to be installed first but Python 3.11 and make.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin
STAMP := .venv/requirements.stamp

.DEFAULT_GOAL := help
.PHONY: calibrate help run test check bench shots clean

help:  ## say what there is
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: $(STAMP)  ## serve the pages on http://localhost:8501 (PORT=8502 for another port)
	$(BIN)/streamlit run app.py --server.port $(PORT)

test: $(STAMP)  ## run every test, those in a browser too
	$(BIN)/python -m tools.browser
	$(BIN)/python -m pytest

check: $(STAMP)  ## lint and type-check
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP)  ## measure speed; prints a table and writes build/bench.json (ONLY=web for a part)
	$(BIN)/python -m tools.browser
	$(BIN)/python -m bench $(ONLY)

calibrate: $(STAMP)  ## fit the calibrated profile to presets/measured.csv again (minutes)
	$(BIN)/python -m tools.calibrate
	$(BIN)/python -m tools.residuals --write

shots: $(STAMP)  ## photograph every page, light and dark, wide and narrow, into build/shots
	$(BIN)/python -m tools.browser
	$(BIN)/python -m tools.shots

clean:  ## remove what the other targets made
	rm -rf .venv build .pytest_cache .ruff_cache .mypy_cache .hypothesis

# Set-up is repeated only when the requirements change.
$(STAMP): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: say which with make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $(STAMP)
