"""Presenting to a room: larger letters and lines that still stand clear of each other, all on one screen."""

from itertools import combinations

import pytest

from tools.shots import settle

pytestmark = pytest.mark.browser


def boxes(page):
    """Where the names on the rail stand: the texts over the first row."""
    return page.evaluate("""() => [...document.querySelectorAll('.plot-graph .annotation-text')]
      .map(t => t.getBoundingClientRect()).filter(r => r.width)
      .map(r => [r.left, r.top, r.right, r.bottom])""")


def overlap(one, other):
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    return max(0, right - left) * max(0, bottom - top)


@pytest.mark.parametrize(("width", "height", "theme"), [(1440, 900, "light"), (1920, 1080, "dark")])
def test_all_is_larger_and_clear_on_one_screen(visit, site, width, height, theme):
    page = visit(f"{site.url}/?present=1&b=64", width=width, height=height, theme=theme)
    settle(page)
    size = "e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a"
    letters = page.locator(".plot-graph .xtick text").first.evaluate(size)
    line = page.locator(".plot-graph .js-line").last.evaluate(
        "e => parseFloat(getComputedStyle(e).strokeWidth) * e.getScreenCTM().a"
    )

    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "20px"
    assert letters == pytest.approx(13 * 1.4, abs=0.1)
    assert line == pytest.approx(3 * 1.4, abs=0.1)
    assert [pair for pair in combinations(boxes(page), 2) if overlap(*pair) > 12] == []
    foot = page.locator(".scenario-line").bounding_box()
    assert foot["y"] + foot["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_click_and_the_arrows_move_the_batch(visit, site):
    page = visit(f"{site.url}/?present=1&b=64")
    settle(page)
    row = page.locator(".plot-graph .nsewdrag").first.bounding_box()
    page.mouse.move(row["x"] + row["width"] * 0.3, row["y"] + row["height"] / 2)
    page.mouse.click(row["x"] + row["width"] * 0.3, row["y"] + row["height"] / 2)
    page.wait_for_function("document.querySelector('.plot-box').dataset.served === '8'")
    page.locator("h1").click()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("document.querySelector('.plot-box').dataset.served === '7'")
    settle(page)
    thumb = page.evaluate(
        "(() => { const s = document.querySelector('.plot-slider input'), i = s.getBoundingClientRect();"
        "return i.x + 11 + (i.width - 22) * s.valueAsNumber / s.max })()"
    )
    dot = page.evaluate("""() => { const g = document.querySelector('.plot-graph'), x = g._fullLayout.xaxis;
      return g.getBoundingClientRect().x + 1.4 * (x._offset + x.l2p(Math.log10(7))) }""")

    assert "At batch 7 " in page.locator(".answer").inner_text()
    assert thumb == pytest.approx(dot, abs=3)
    assert not page.locator(".st-key-corner").is_visible()
    assert page.locator("[data-testid=stExpander]:visible").count() == 0


def test_on_a_phone_nothing_is_enlarged_past_the_screen(visit, site):
    page = visit(f"{site.url}/?present=1&b=32", width=390, height=844)
    settle(page)

    assert page.locator(".plot-box").first.get_attribute("data-scale") == "1"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".scenario-line").is_visible()
