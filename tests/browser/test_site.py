"""The served pages: cold, by a deep link, on a desk and on a phone, in both themes."""

import urllib.request

import pytest

from tools.shots import settle
from ui import navigation

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("entry", navigation.LISTED, ids=lambda entry: entry.file)
def test_page_opens_by_its_address(visit, site, entry, width, theme):
    page = visit(f"{site.url}/{entry.address}?b=32", width=width, height=844, theme=theme)
    settle(page)

    assert page.locator("h1").first.inner_text().endswith("?")
    assert page.get_by_text("Traceback").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.url.endswith("?b=32")


def test_static_files_of_streamlit_itself_come_compressed(site):
    with urllib.request.urlopen(site.url) as answer:
        document = answer.read().decode()
    script = next(part for part in document.split('"') if part.startswith("./static/js/index."))
    request = urllib.request.Request(f"{site.url}/{script[2:]}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
