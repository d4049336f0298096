"""Doors in a real browser: one set of them is seen, and the scenario goes through."""

from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "seen", "hidden"), [(1440, "row", "under"), (390, "under", "row")])
def test_a_door_leads_on_with_the_scenario(visit, site, width, seen, hidden):
    page = visit(f"{site.url}/?b=65&in=1600", width=width)
    page.wait_for_selector(".plot-box[data-painted]")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    door = page.locator(f".st-key-doors_{seen} a", has_text="What does a speed cost?")
    assert page.locator(f".st-key-doors_{hidden}").is_hidden()
    door.click()
    page.wait_for_selector("h1:has-text('responsiveness')")

    address = urlsplit(page.url)
    assert address.path == "/frontier"
    assert {k: v[-1] for k, v in parse_qs(address.query).items()} == {"b": "65", "in": "1600"}
