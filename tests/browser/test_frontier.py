"""Speed vs cost and Where to run in a real browser: clicks take setups, limits and rows live in the address."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tools.shots import settle

pytestmark = pytest.mark.browser


def query(page):
    return {key: value[-1] for key, value in parse_qs(urlsplit(page.url).query).items()}


def stamp(page):
    return page.locator(".plot-box").first.get_attribute("data-stamp")


def point(page, name):
    """Where the first point of a trace stands on the screen."""
    return page.evaluate(
        """name => {
          const g = document.querySelector('.plot-graph'), l = g._fullLayout;
          const t = g._fullData.find(t => t.name === name), at = Math.floor(t.x.length / 2);
          const box = g.getBoundingClientRect();
          const y = t.yaxis === 'y' ? l.yaxis : l[t.yaxis.replace('y', 'yaxis')];
          return [box.x + l.xaxis._offset + l.xaxis.c2p(t.x[at]), box.y + y._offset + y.c2p(t.y[at])];
        }""",
        name,
    )


def test_a_click_on_a_line_takes_its_setup(visit, site):
    page = visit(f"{site.url}/frontier?b=32")
    settle(page)
    x, y = point(page, "H200 SXM") if page.evaluate(
        "!!document.querySelector('.plot-graph')._fullData.find(t => t.name === 'H200 SXM')"
    ) else point(page, "H100 SXM")  # fmt: skip
    before = query(page)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    page.wait_for_function("!location.search.includes('b=32')")
    settle(page)

    assert query(page) != before
    assert {"hw", "g", "kv", "b"} & query(page).keys()


def test_a_new_limit_is_answered(visit, site):
    page = visit(f"{site.url}/frontier?sp=30")
    settle(page)
    first, said = stamp(page), page.locator(".answer").inner_text()
    box = page.locator(".st-key-sp input")
    box.fill("60")
    box.press("Enter")
    page.wait_for_function(f"document.querySelector('.plot-box').dataset.stamp !== '{first}'")
    settle(page)

    assert page.locator(".answer").inner_text() != said
    assert stamp(page).startswith("60:")


def test_page_controls_live_in_the_address_and_survive_a_reload(visit, site):
    page = visit(f"{site.url}/frontier?bud=2&q4=4+bits+too&fr_us=500&fr_hw=h100-sxm,b200-sxm")
    settle(page)
    said = page.locator(".answer").inner_text()
    page.reload()
    settle(page)

    assert page.locator(".answer").inner_text() == said
    assert query(page)["bud"] == "2"
    assert "For $2.00 the fastest is" in said
    assert page.get_by_text("500 users at once take").count() == 1


def test_a_phone_shows_apis_as_a_list(visit, site):
    page = visit(f"{site.url}/frontier?b=32", width=390, height=844)
    settle(page)

    assert page.locator(".apilist").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_hardware_is_where_to_run(visit, site):
    page = visit(f"{site.url}/hardware?b=32")
    settle(page)

    assert page.locator("h1").first.inner_text() == "Which accelerator, or an API?"


def test_a_click_on_a_place_takes_its_setup(visit, site):
    page = visit(f"{site.url}/where?b=32")
    settle(page)
    x, y = point(page, "rented")
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    page.wait_for_function("!location.search.includes('b=32')")
    settle(page)

    assert {"hw", "b"} & query(page).keys()


def test_folds_open(visit, site):
    page = visit(f"{site.url}/frontier?b=32")
    settle(page)
    for title in ("Show the arithmetic", "Serve it", "Which to choose: four common uses", "Data table"):
        page.get_by_text(title, exact=True).click()
        settle(page)

    assert page.get_by_text("vllm serve").count() >= 1
    assert page.locator(".uses").count() == 1
    assert page.get_by_text("Usually said").count() >= 1
