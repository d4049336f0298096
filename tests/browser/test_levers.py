"""Levers, Compare and Your stack in a real browser: deep links, tabs, pins that stay from page to page."""

from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser


def settled(page):
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.wait_for_function("[...document.querySelectorAll('.plot-box')].every(box => box.dataset.painted)")


def query(page):
    return {key: value[-1] for key, value in parse_qs(urlsplit(page.url).query).items()}


def drawn(page):
    page.wait_for_selector(".plot-box[data-painted]")
    settled(page)


def test_deep_link_opens_a_tab_with_its_levers(visit, site):
    page = visit(f"{site.url}/levers?le_tab=Combine&le_set=kv,fill&b=32")
    drawn(page)

    assert "Move the floor" in page.locator("h1").inner_text()
    assert page.locator(".st-key-le_pick_kv input").is_checked()
    assert query(page)["le_set"] == "kv,fill"


def test_misspelt_tab_is_mended_and_stays_on_the_page(visit, site):
    page = visit(f"{site.url}/levers?le_tab=gap")
    drawn(page)

    assert query(page)["le_tab"] == "Gap"
    assert "Move the floor" in page.locator("h1").inner_text()


def test_a_tab_and_a_lever_write_the_address(visit, site):
    page = visit(f"{site.url}/levers")
    drawn(page)
    page.get_by_role("radio", name="Combine").click()
    page.get_by_text("Take the first things to do").click()
    drawn(page)
    page.wait_for_function("new URL(location).searchParams.get('le_set')?.startsWith('fill')")

    assert query(page)["le_tab"] == "Combine"


def test_pin_travels_to_compare(visit, site):
    page = visit(f"{site.url}/?b=200")
    drawn(page)
    page.locator(".st-key-pin button").first.click()
    page.wait_for_function("new URL(location).searchParams.get('p1')?.startsWith('b~200')")
    page.get_by_test_id("stTopNavSection").filter(has_text="Explore").click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text="Compare").click()
    page.wait_for_function("document.querySelector('h1')?.innerText === 'What differs?'")
    drawn(page)

    assert query(page)["p1"].startswith("b~200")
    assert page.locator(".st-key-cmp_p1 input").input_value().endswith("batch 200")


@pytest.mark.parametrize("address", ["levers", "levers?le_tab=Gap", "compare", "one-or-many", "your-stack"])
def test_a_phone_scrolls_down_only(visit, site, address):
    page = visit(f"{site.url}/{address}", width=390, height=844)
    drawn(page)
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    assert over <= 0


def test_a_bill_moves_with_what_it_is_of(visit, site):
    page = visit(f"{site.url}/your-stack?ys_p=0.56&ys_u=input and output")
    drawn(page)

    assert page.locator(".answer").inner_text().startswith("$1.40 is ")
