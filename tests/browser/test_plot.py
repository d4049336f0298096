"""The chart component in a real browser, on a page of invented numbers."""

import pytest

from ui import theme

pytestmark = pytest.mark.browser
DRAWN = "() => document.querySelector('.plot-box')?.dataset.painted"


@pytest.fixture(scope="module")
def demo():
    from tools.server import served

    with served("tests/browser/demo/app.py") as site:
        yield site.url


def drawn(page):
    page.wait_for_function(DRAWN)
    return page.locator(".plot-box")


def served(page, batch):
    page.wait_for_function(f"document.querySelector('.plot-box').dataset.served === '{batch}'")


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(("width", "height_px"), [(1440, 560), (390, 430)])
def test_figure_follows_theme_and_width(visit, demo, colours, width, height_px):
    page = visit(demo, width=width, height=844, theme=colours)

    assert drawn(page).get_attribute("data-theme") == colours
    assert page.locator(".plot-graph").bounding_box()["height"] == height_px
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_key_moves_everything_and_keeps_the_node(visit, demo):
    page = visit(f"{demo}/?b=64")
    drawn(page)
    page.evaluate("document.querySelector('.plot-graph').mine = true")
    page.locator("input[type=range]").focus()

    page.keyboard.press("ArrowRight")
    served(page, 67)
    page.wait_for_url("**/?b=67")

    assert page.get_by_label("Batch").first.input_value() == "67"
    assert page.locator("[data-live=answer]").inner_text().startswith("At batch 67 a million tokens cost $1.08")
    assert page.locator("input[type=range]").get_attribute("aria-valuetext").startswith("67 sequences, $1.08,")
    assert page.evaluate("document.querySelector('.plot-graph').mine")
    assert page.evaluate("document.querySelector('.plot-graph').layout.annotations[0].text.includes('batch 67')")


def test_drag_draws_at_once_and_commits_on_release(visit, demo):
    page = visit(f"{demo}/?b=64")
    box = drawn(page)
    track = page.locator("input[type=range]").bounding_box()
    x, y = track["x"] + track["width"] * 0.6, track["y"] + track["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(6):
        page.mouse.move(x + 20 * step, y)
    page.wait_for_function("document.querySelector('.plot-box').dataset.batch > 90")
    moved = box.get_attribute("data-batch")

    assert page.locator("[data-live=answer]").inner_text().startswith(f"At batch {moved} ")
    page.mouse.up()
    served(page, box.get_attribute("data-batch"))


def test_zoom_survives_a_change(visit, demo):
    page = visit(f"{demo}/?b=64")
    drawn(page)
    plot = page.locator(".plot-graph .nsewdrag").first.bounding_box()
    page.mouse.move(plot["x"] + 100, plot["y"] + 50)
    page.mouse.down()
    page.mouse.move(plot["x"] + 400, plot["y"] + 150, steps=4)
    page.mouse.up()
    zoomed = page.evaluate("document.querySelector('.plot-graph').layout.xaxis.range")
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    served(page, 67)

    assert zoomed[0] > 0
    assert page.evaluate("document.querySelector('.plot-graph')._fullLayout.xaxis.range") == pytest.approx(zoomed)


def test_click_on_the_curve_writes_the_batch(visit, demo):
    page = visit(f"{demo}/?b=64")
    box = drawn(page)
    plot = page.locator(".plot-graph .nsewdrag").first.bounding_box()
    page.mouse.move(plot["x"] + plot["width"] * 0.3, plot["y"] + plot["height"] / 2)
    page.mouse.click(plot["x"] + plot["width"] * 0.3, plot["y"] + plot["height"] / 2)
    page.wait_for_function("document.querySelector('.plot-box').dataset.served === '8'")

    assert box.get_attribute("data-batch") == "8"


def test_another_control_keeps_the_figure(visit, demo):
    page = visit(f"{demo}/?b=64&out=500")
    drawn(page)

    assert page.locator(".plot-box").get_attribute("data-stamp") == "64 500"
    assert page.locator(".plot-graph").get_attribute("role") == "img"
    assert page.locator(".plot-graph").get_attribute("aria-label").startswith("Line chart")


def test_figure_follows_the_screens_theme_and_width_while_it_is_open(visit, demo):
    page = visit(f"{demo}/?b=64")
    drawn(page)
    page.evaluate("document.querySelector('.plot-graph').mine = true")

    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.querySelector('.plot-box').dataset.theme === 'dark'")
    line = "document.querySelector('.plot-graph')._fullData[0].line.color"
    assert page.evaluate(line) == theme.palette()["dark"]["ink"]

    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.querySelector('.plot-graph').offsetHeight === 430")
    page.wait_for_function("document.querySelector('.plot-graph').layout.xaxis.tickvals.length === 6")
    assert page.evaluate("document.querySelector('.plot-graph').mine")


def test_hurried_keys_end_where_they_lead(visit, demo):
    page = visit(f"{demo}/?b=8")
    drawn(page)
    page.locator("input[type=range]").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    page.wait_for_function(
        "(box => box.batch > 25 && box.batch === box.served)(document.querySelector('.plot-box').dataset)"
    )
    batch = drawn(page).get_attribute("data-batch")
    page.wait_for_url(f"**/?b={batch}")

    assert page.get_by_label("Batch").first.input_value() == batch
    assert page.get_by_text(f"server says {batch}").count() == 1


def test_slider_thumb_stands_under_the_operating_point(visit, demo):
    page = visit(f"{demo}/?b=64")
    drawn(page)
    dot = page.locator(".shapelayer path").last.bounding_box()
    track = page.locator("input[type=range]").bounding_box()
    thumb_px = 22
    share = page.evaluate(
        "(input => input.valueAsNumber / input.max)(document.querySelector('input[type=range]'))"
    )
    thumb = track["x"] + thumb_px / 2 + share * (track["width"] - thumb_px)

    assert thumb == pytest.approx(dot["x"] + dot["width"] / 2, abs=1.5)
