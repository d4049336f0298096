"""The cost curve in a real browser: click, drag, keys, Vary, folds, states, phone, accessibility."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from costmodel.curve import cost_curve
from costmodel.scenario import scenario
from tools.shots import settle
from ui import words

pytestmark = pytest.mark.browser
DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)
FOLDS = ("Show the arithmetic", "Serve it", "Data table", "Sources, limits, error")


def served(page, batch):
    page.wait_for_function(f"document.querySelector('.plot-box')?.dataset.served === '{batch}'")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def said(batch):
    """The answer that the engine's own run gives at a batch, without the marks of bold."""
    curve = cost_curve(DEFAULT.but(batch=batch))
    return words.answer(curve, words.row(curve)).replace("**", "")


def answer(page):
    return page.locator("[data-live=answer]").inner_text()


def test_slider_keys_move_everything(visit, site):
    page = visit(f"{site.url}/?b=64")
    settle(page)
    page.locator(".plot-slider input").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.plot-box').dataset.served !== '64'")
    batch = int(page.locator(".plot-box").get_attribute("data-batch"))
    served(page, batch)

    assert answer(page) == said(batch)
    assert page.locator(".plot-slider input").get_attribute("aria-valuetext").startswith(f"{batch} sequences, $")
    assert page.evaluate("document.querySelector('.plot-graph').layout.annotations.some("
                         f"a => a.name === 'now' && a.text.includes('batch {batch},'))")  # fmt: skip


def test_drag_shows_what_the_engine_says_before_the_server_is_asked(visit, site):
    page = visit(f"{site.url}/?b=64")
    settle(page)
    track = page.locator(".plot-slider input").bounding_box()
    x, y = track["x"] + track["width"] * 0.6, track["y"] + track["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=5)
    page.wait_for_function("document.querySelector('.plot-box').dataset.batch !== '64'")
    page.wait_for_timeout(60)
    batch = int(page.locator(".plot-box").get_attribute("data-batch"))

    assert answer(page) == said(batch)
    assert page.locator("[data-live=usd]").inner_text() in answer(page)
    page.mouse.up()
    served(page, page.locator(".plot-box").get_attribute("data-batch"))


def test_click_on_the_curve_sets_the_batch(visit, site):
    page = visit(f"{site.url}/?b=64")
    settle(page)
    row = page.locator(".plot-graph .nsewdrag").first.bounding_box()
    page.mouse.move(row["x"] + row["width"] * 0.3, row["y"] + row["height"] / 2)
    page.mouse.click(row["x"] + row["width"] * 0.3, row["y"] + row["height"] / 2)
    served(page, 8)

    assert answer(page) == said(8)


def test_past_the_wall_a_cross_stands_at_the_wall(visit, site):
    page = visit(f"{site.url}/?b=400")
    settle(page)
    opacity = "name => document.querySelector('.plot-graph').layout.shapes.find(s => s.name === name).opacity"

    assert "343 is the most on 4 × H100 SXM" in answer(page)
    assert (page.evaluate(opacity, "now"), page.evaluate(opacity, "now past")) == (0, 1)


def test_go_there_takes_the_batch_of_the_edge(visit, site):
    page = visit(site.url)
    settle(page)
    page.get_by_role("button", name="Go there").last.click()
    served(page, 343)

    assert page.url.endswith("?b=343")


def test_a_click_on_another_line_takes_its_gpus_and_the_batch(visit, site):
    page = visit(f"{site.url}/?vary=GPUs&b=64")
    settle(page)
    x, y = page.evaluate("""() => {
      const g = document.querySelector('.plot-graph'), l = g._fullLayout, box = g.getBoundingClientRect();
      const line = g._fullData.find(t => t.name === '8 GPUs'), at = line.x.findIndex(x => x > 30);
      const px = (axis, value) => axis._offset + axis.d2p(value);
      return [box.x + px(l.xaxis, line.x[at]), box.y + px(l.yaxis, line.y[at])];
    }""")
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    page.wait_for_url("**g=8*")
    page.wait_for_function("document.querySelector('.plot-box').dataset.stamp.includes(' 8 ')")
    settle(page)
    batch = int(page.locator(".plot-box").get_attribute("data-served"))
    curve = cost_curve(DEFAULT.but(tp=8, batch=batch), axis_at_least=1024)

    assert batch == pytest.approx(31, abs=3)
    assert "vary=GPUs" in page.url
    assert answer(page) == words.answer(curve, words.row(curve)).replace("**", "")


def test_vary_keeps_the_slider_under_its_axis(visit, site):
    page = visit(f"{site.url}/?vary=GPUs&b=64")
    settle(page)
    thumb = page.evaluate(
        "(() => { const i = document.querySelector('.plot-slider input').getBoundingClientRect();"
        "const s = document.querySelector('.plot-slider input');"
        "return i.x + 11 + (i.width - 22) * s.valueAsNumber / s.max })()"
    )
    tick = page.evaluate(
        "(() => { const g = document.querySelector('.plot-graph'), l = g._fullLayout;"
        "return g.getBoundingClientRect().x + l.xaxis._offset + l.xaxis.l2p(Math.log10(64)) })()"
    )

    assert page.locator(".plot-graph").get_attribute("aria-label").startswith("Line chart, logarithmic: ")
    assert thumb == pytest.approx(tick, abs=3)


def test_a_missing_unit_is_said_and_the_choice_kept(visit, site):
    page = visit(f"{site.url}/?hw=a100-sxm-80gb&w=fp8&b=32")
    settle(page)

    assert "has no fp8" in page.locator(".stMain").inner_text()
    assert "w=fp8" in page.url or page.locator(".st-key-w input").input_value() == "fp8"


def test_until_the_figure_has_come_a_skeleton_holds_its_place(visit, site):
    page = visit(f"{site.url}/robots.txt")
    held = []
    page.route("**/plotly-cartesian.min.js", lambda route: held.append(route))  # noqa: PLW0108 (no builtin)
    page.goto(site.url)
    waiting = page.locator(".plot-graph.plot-waiting")
    waiting.wait_for()
    height = waiting.bounding_box()["height"]
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    settle(page)

    assert height == page.locator(".plot-graph").bounding_box()["height"]
    assert page.locator(".plot-waiting").count() == 0


def test_what_does_not_fit_offers_a_way_out(visit, site):
    page = visit(f"{site.url}/?m=llama-3.1-405b&g=4")
    page.wait_for_selector(".st-key-fixes button")
    page.locator(".st-key-fixes button").first.click()
    page.wait_for_selector(".plot-box[data-painted]")

    assert "a million tokens cost" in answer(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_lies_between_255_and_900(visit, site, theme):
    page = visit(site.url, theme=theme)
    settle(page)
    box = page.locator(".plot-box").bounding_box()

    assert box["y"] <= 255
    assert box["y"] + box["height"] <= 900


def test_on_a_phone_rows_1_and_3_with_the_slider_under_them(visit, site):
    page = visit(site.url, width=390, height=844)
    settle(page)

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".plot-graph").bounding_box()["height"] == 470
    assert page.locator(".share").is_visible()
    assert page.locator(".edgelist").inner_text().startswith("① cache = weights 108")


def test_nothing_moves_after_the_first_paint(visit, site):
    page = visit(f"{site.url}/robots.txt", cold=True)
    page.add_init_script(
        "window.shifts = []; const drawn = () => document.querySelector('.plot-box')?.dataset.painted;"
        "const note = e => { if (drawn()) window.shifts.push(e.value) };"
        "new PerformanceObserver(list => list.getEntries().forEach(note))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    page.goto(site.url)
    settle(page)
    page.wait_for_timeout(500)

    assert sum(page.evaluate("window.shifts")) < 0.02


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_no_violation_of_accessibility_rules_with_every_fold_open(visit, site, width, height):
    page = visit(site.url, width=width, height=height)
    settle(page)
    for title in FOLDS:
        page.locator("[data-testid=stExpander] summary", has_text=title).click()
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    page.wait_for_selector(".arith")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(f"document.querySelector('.plot-box').dataset.theme === '{theme}'")
        page.wait_for_timeout(500)
        found = Axe().run(page, context=[[".stMain"]]).response["violations"]
        assert [(theme, v["id"], [n["html"][:160] for n in v["nodes"]][:3]) for v in found] == []
