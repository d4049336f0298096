"""What tests share: nothing is served or started before a test asks for it."""

import pytest


def pytest_collection_modifyitems(items):
    """Run browser tests last: whoever broke a formula should read of that first."""
    items.sort(key=lambda item: "browser" in item.keywords)


@pytest.fixture(scope="session")
def site():
    """The application, started cold on a free port."""
    from tools.server import served

    with served() as site:
        yield site


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium; where there is none, the test fails with a sentence that says so."""
    from tools.browser import launched

    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def contexts(browser):
    """Browser contexts by kind of screen: their caches are kept, so that a page opens in half the time."""
    return {}


@pytest.fixture
def visit(browser, contexts):
    """Open an address on a page of its own; on leaving, fail on anything the page complained about.

    `cold` gives a page that has nothing in its cache either.
    """
    opened = []

    def open_(url, *, width=1440, height=900, theme="light", cold=False):
        size = {"width": width, "height": height}
        kind = (width, theme)
        context = None if cold else contexts.get(kind)
        if context is None:
            context = browser.new_context(viewport=size, color_scheme=theme)
            if not cold:
                contexts[kind] = context
        page = context.new_page()
        page.set_viewport_size(size)
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: _hear(message, complaints))
        page.goto(url)
        opened.append((page, complaints))
        return page

    yield open_
    for page, complaints in opened:
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        page.close()
        assert complaints == []


def _hear(message, complaints):
    """Keep errors, but for the two look-ups that Streamlit itself makes on a deep link."""
    own = ("_stcore/health", "_stcore/host-config")
    where = message.location.get("url", "")
    if message.type == "error" and not where.endswith(own):
        complaints.append(f"{message.text} {where}")
