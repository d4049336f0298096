"""The charts' JavaScript is the version that the Python package of Plotly was made for."""

import re
from importlib.resources import files
from pathlib import Path

STATIC = Path(__file__).parents[1] / "ui" / "static"
VERSION = re.compile(r"plotly\.js (?:\(.*?\) )?v([\d.]+)")


def version(path):
    with path.open(encoding="utf-8") as text:
        return VERSION.search(text.read(300)).group(1)


def test_bundle_is_the_version_of_the_python_package():
    packaged = files("plotly") / "package_data" / "plotly.min.js"

    assert version(STATIC / "plotly-cartesian.min.js") == version(packaged)


def test_bundle_comes_with_its_licence():
    assert "MIT License" in (STATIC / "plotly-LICENSE.txt").read_text(encoding="utf-8")
