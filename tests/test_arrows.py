"""Who may import whom, and what a page may hold: the shape of the project, as a test."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {  # layer -> our layers it may import
    "costmodel": set(),
    "api": {"costmodel"},
    "ui": {"costmodel"},
    "pages": {"ui", "costmodel"},
}
FILES = sorted(path for layer in MAY_IMPORT for path in (ROOT / layer).rglob("*.py"))
ARITHMETIC = (ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
named = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))


def tree_and_layer(path):
    return ast.parse(path.read_text(encoding="utf-8")), path.relative_to(ROOT).parts[0]


def imported(tree):
    """Return the first names of everything imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").split(".")[0]


@named
def test_imports_point_one_way(path):
    tree, layer = tree_and_layer(path)

    assert set(imported(tree)) & MAY_IMPORT.keys() <= MAY_IMPORT[layer] | {layer}


@named
def test_engine_and_api_know_no_streamlit(path):
    tree, layer = tree_and_layer(path)

    if layer in {"costmodel", "api"}:
        assert "streamlit" not in set(imported(tree))


@named
def test_pages_do_no_arithmetic(path):
    tree, layer = tree_and_layer(path)

    if layer == "pages":
        assert not [node.lineno for node in ast.walk(tree) if isinstance(getattr(node, "op", None), ARITHMETIC)]


@named
def test_presets_have_one_reader(path):
    """A path to presets/ is spelt in the catalog and nowhere else."""
    tree, _ = tree_and_layer(path)
    spelt = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value == "presets" or node.value.startswith("presets/")
    ]

    assert path == ROOT / "costmodel" / "catalog.py" or not spelt
