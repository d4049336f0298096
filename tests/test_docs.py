"""The docs: generated parts are up to date, names exist, examples run, links lead somewhere."""

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "costmodel").rglob("*.py")))
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
named = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


def test_scenario_table_is_up_to_date():
    """Where it isn't: python -m tools.scenario_table."""
    from tools.scenario_table import TARGET, text

    assert TARGET.read_text(encoding="utf-8") == text()


def test_python_examples_run():
    failed, tried = doctest.testfile(
        str(DOCS / "python.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE, encoding="utf-8"
    )

    assert tried > 15
    assert failed == 0


def test_glossary_names_exist():
    """Every name in code is one: a field, a function, an argument or a key of the engine."""
    known = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", SOURCE))
    rows = [line.split("|") for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()]
    names = {name for row in rows if len(row) == 5 for name in re.findall(r"`(\w+)`", row[3])}

    assert len(names) > 50
    assert names <= known, sorted(names - known)


def test_functions_named_in_model_md_exist():
    """`module.name` leads to a module of the engine and something defined in it."""
    text = (DOCS / "model.md").read_text(encoding="utf-8")
    mentioned = set(re.findall(r"\b([a-z_]+)\.([A-Za-z_]+)\b", text))
    modules = {path.stem: path for path in (ROOT / "costmodel").glob("*.py")}
    checked = 0
    for module, name in mentioned:
        if module not in modules or name in {"py", "md"}:
            continue
        tree = ast.parse(modules[module].read_text(encoding="utf-8"))
        defined = {getattr(node, "name", None) for node in ast.walk(tree)} | {
            target.id for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }  # fmt: skip
        assert name in defined, f"{module}.{name}"
        checked += 1

    assert checked > 30


def test_sections_that_docstrings_cite_exist():
    """`docs/x.md, "Section"` in a docstring is a heading of that file."""
    flat = re.sub(r"\s+", " ", SOURCE)
    cited = set(re.findall(r'docs/(\w+\.md), "([^"]+)"', flat))

    assert len(cited) >= 6
    for file, section in cited:
        headings = re.findall(r"^#+ (.+)$", (DOCS / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert section in headings, f"{file}: {section}"


@named
def test_links_between_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not target.startswith(("http", "mailto:")):
            assert (page.parent / target).exists(), target


def test_decisions_are_numbered_and_short():
    files = sorted((DOCS / "decisions").glob("*.md"))

    assert [f.name[:4] for f in files] == [f"{i + 1:04d}" for i in range(len(files))]
    for file in files:
        text = file.read_text(encoding="utf-8")
        for part in ("**Context.**", "**Choice.**", "**Rejected.**", "**What would change our mind.**"):
            assert part in text, file.name
        assert len(text.splitlines()) <= 20
