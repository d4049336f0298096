"""Prompt and answer, Accuracy: what a click on the figure does, and what stays in the address."""

import pytest

from tools.shots import settle

pytestmark = pytest.mark.browser


def middle_of_first_figure(page):
    """Return the middle of its plotted area."""
    box = page.locator(".plot-box .nsewdrag").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_click_on_the_map_sets_both_lengths(visit, site):
    page = visit(f"{site.url}/prefill-decode")
    settle(page)
    x, y = middle_of_first_figure(page)
    page.mouse.move(x + 40, y - 20)
    page.mouse.click(x + 40, y - 20)
    page.wait_for_function("location.search.includes('in=')", timeout=10_000)
    settle(page)

    assert "out=" in page.url
    assert page.get_by_text("now:", exact=False).count() > 0


def test_page_controls_are_in_the_address_and_come_back(visit, site):
    page = visit(f"{site.url}/prefill-decode?pa_ch=512&pa_dis=on")
    settle(page)

    assert "pa_ch=512" in page.url
    assert page.get_by_text("prompt copies per answer copy").count() == 0  # its tab isn't open
    page.get_by_role("tab", name="Separate prompt GPUs").click()
    settle(page)
    assert page.get_by_text("prompt copies per answer copy", exact=False).count() > 0


def test_junk_in_page_controls_is_named(visit, site):
    page = visit(f"{site.url}/prefill-decode?pa_ch=7&pa_dis=maybe")
    settle(page)

    assert page.get_by_text("isn't one of", exact=False).count() > 0


def test_a_click_on_a_dot_shows_its_row(visit, site):
    page = visit(f"{site.url}/accuracy")
    settle(page)
    dot = page.locator(".scatterlayer .points path").last.bounding_box()
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    page.wait_for_timeout(300)
    page.mouse.click(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)

    page.wait_for_selector("text=measured", timeout=10_000)
    page.wait_for_selector(".notes a:has-text('source')", timeout=10_000)


def test_sources_are_searched(visit, site):
    page = visit(f"{site.url}/accuracy")
    settle(page)
    page.get_by_role("tab", name="Sources").click()
    settle(page)
    page.get_by_label("Search").fill("h100-sxm bandwidth")
    page.get_by_label("Search").press("Enter")

    page.wait_for_selector("text=1 figure.", timeout=10_000)
