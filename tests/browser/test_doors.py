"""Doors in a real browser: beside the controls or under the page, and the scenario goes through."""

from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "above"), [(1440, True), (390, False)])
def test_a_door_leads_on_with_the_scenario(visit, site, width, above):
    page = visit(f"{site.url}/?b=65&in=1600", width=width)
    page.wait_for_selector(".plot-box[data-painted]")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    door = page.locator(".st-key-doors a", has_text="What does a speed cost?")
    assert (door.bounding_box()["y"] < page.locator(".plot-box").bounding_box()["y"]) == above
    door.click()
    page.wait_for_selector("h1:has-text('responsiveness')")

    address = urlsplit(page.url)
    assert address.path == "/frontier"
    assert {k: v[-1] for k, v in parse_qs(address.query).items()} == {"b": "65", "in": "1600"}
