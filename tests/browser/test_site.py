"""The served pages: cold, by a deep link, on a desk and on a phone, in both themes."""

import urllib.request

import pytest
from axe_playwright_python.sync_playwright import Axe

from tools.shots import settle
from ui import navigation

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("entry", navigation.LISTED, ids=lambda entry: entry.file)
def test_page_opens_by_its_address_and_breaks_no_rule_of_accessibility(visit, site, entry, width):
    page = visit(f"{site.url}/{entry.address}?b=32", width=width, height=844)
    settle(page)

    assert page.locator("h1").first.inner_text().endswith("?")
    assert page.get_by_text("Traceback").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.url.endswith("?b=32")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(
            f"[...document.querySelectorAll('.plot-box')].every(box => box.dataset.theme === '{theme}')"
        )
        found = Axe().run(page, context=[[".stMain"]]).response["violations"]
        assert [(theme, v["id"], [n["html"][:160] for n in v["nodes"]][:3]) for v in found] == []


def test_static_files_of_streamlit_itself_come_compressed(site):
    with urllib.request.urlopen(site.url) as answer:
        document = answer.read().decode()
    script = next(part for part in document.split('"') if part.startswith("./static/js/index."))
    request = urllib.request.Request(f"{site.url}/{script[2:]}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
