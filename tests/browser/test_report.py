"""The report in a real browser: saved whole, opened without a network, for paper and for a phone."""

import re

import pytest

from costmodel.curve import cost_curve
from costmodel.scenario import scenario
from tools.shots import settle
from ui import theme, units

pytestmark = pytest.mark.browser


def saved(page, folder):
    page.locator(".st-key-corner [data-testid=stPopoverButton]").click()
    with page.expect_download() as download:
        page.locator("[data-action=report]").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.fixture
def opened(browser):
    """Open a file without a network; on leaving, fail on anything it complained about or asked for."""
    contexts, complaints = [], []

    def open_(path, *, width=1000):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url[:80])
                if not request.url.startswith(("file:", "data:")) else None)  # fmt: skip
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def test_a_dark_pages_report_is_one_light_file_with_the_pages_figures(visit, site, opened, tmp_path):
    page = visit(f"{site.url}/?b=64", theme="dark")
    settle(page)
    page.locator(".plot-slider input").focus()
    page.keyboard.press("PageUp")
    page.wait_for_function("document.querySelector('.plot-box').dataset.served !== '64'")
    settle(page)
    batch = int(page.locator(".plot-box").get_attribute("data-served"))
    said = page.locator(".answer").inner_text()
    path = saved(page, tmp_path)
    report = opened(path)
    curve = cost_curve(scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5, batch=batch))
    text = path.read_text(encoding="utf-8")

    assert path.name == "cost-curve.html"
    assert report.locator(".answer").inner_text() == said
    assert report.locator(".price, main > p").nth(1).inner_text() == page.locator(".price").inner_text()
    assert f"= {units.usd(float(curve.now.at.usd_per_mtok[0]))} per Mtok" in report.locator(".sum").inner_text()
    assert f"b={batch}" in report.locator("main a").last.get_attribute("href")
    figure = report.locator("figure img.wide")
    assert figure.evaluate("image => image.naturalWidth") == 930
    assert figure.get_attribute("alt").startswith("Line chart, logarithmic.")
    drawn = figure.evaluate("image => decodeURIComponent(image.src.split(',').slice(1).join(','))")
    assert drawn.startswith("<svg")
    assert f"batch {batch}," in re.sub("<[^>]+>", "", drawn)
    red, green, blue = (int(theme.palette()["light"]["floor"][at : at + 2], 16) for at in (1, 3, 5))
    assert f"rgb({red}, {green}, {blue})" in drawn
    assert "<script" not in text


def test_another_pages_report_holds_all_its_figures(visit, site, opened, tmp_path):
    page = visit(f"{site.url}/prefill-decode?b=32")
    settle(page)
    shown = page.locator(".plot-graph:visible").count()
    path = saved(page, tmp_path)
    report = opened(path)

    assert report.locator("figure img.wide").count() == shown == 2
    assert report.locator(".answer").inner_text() == page.locator(".answer").inner_text()
    assert report.locator(".settings").count() == report.locator(".data").count() == 1


def test_on_a_phone_and_on_paper_nothing_is_cut_off(visit, site, opened, tmp_path):
    page = visit(site.url, width=390, height=844)
    settle(page)
    path = saved(page, tmp_path)
    report = opened(path, width=390)

    assert report.evaluate("document.documentElement.scrollWidth") <= 390
    assert report.locator("figure img.narrow").is_visible()
    assert not report.locator("figure img.wide").is_visible()
    report.emulate_media(media="print")
    report.set_viewport_size({"width": 688, "height": 970})  # A4 less its margins
    assert report.evaluate("document.documentElement.scrollWidth") <= 688
    assert report.locator("figure img.wide").is_visible()
