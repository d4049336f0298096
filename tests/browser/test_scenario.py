"""The scenario in a real browser: cold deep links, controls, address, copied links, Back, junk."""

import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from ui import navigation
from ui.controls import CONTROLS

pytestmark = pytest.mark.browser
DEEP = "?m=llama-3.1-8b&hw=h200-sxm&g=1&w=fp8&b=32&in=3000&sp=50&sh=40"


def settled(page, stamp=None):
    """Wait until the figure is drawn, with a certain batch where one is given."""
    page.wait_for_selector(".plot-box[data-painted]")
    if stamp is not None:
        page.wait_for_function(f"document.querySelector('.plot-box').dataset.served === '{stamp}'")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def number(page, key, value):
    box = page.locator(f".st-key-{key} input")
    box.fill(str(value))
    box.press("Enter")


def choose(page, key, option):
    page.locator(f".st-key-{key} input").fill(option)  # a long list draws only what it shows
    page.get_by_role("option", name=option, exact=True).click()


def figures(page):
    """The sentences that hold the page's figures."""
    return page.locator(".answer").inner_text(), page.locator(".price").inner_text()


def query(page):
    return {key: value[-1] for key, value in parse_qs(urlsplit(page.url).query).items()}


def copied_link(page):
    """Open Share and read the complete link."""
    page.locator(".st-key-corner [data-testid=stPopoverButton]").click()
    code = page.locator("[data-testid=stPopoverBody] [data-testid=stCode]").first
    code.wait_for()
    link = code.inner_text().strip()
    page.keyboard.press("Escape")
    return link


def test_cold_deep_link_then_a_control_then_reload(visit, site):
    page = visit(f"{site.url}/{DEEP}")
    settled(page, 32)
    before = figures(page)
    choose(page, "g", "2")
    page.wait_for_function(f"document.querySelector('.price').innerText !== {before[1]!r}")
    settled(page)
    moved = figures(page)
    page.reload()
    settled(page, 32)

    assert moved != before
    assert figures(page) == moved
    assert query(page) == {
        "m": "llama-3.1-8b", "hw": "h200-sxm", "g": "2", "b": "32", "in": "3000", "sp": "50", "sh": "40",
    }  # fmt: skip


def test_every_other_page_keeps_the_scenario_and_its_address(visit, site):
    page = visit(f"{site.url}/{DEEP}")
    settled(page, 32)
    for entry in (listed for listed in navigation.LISTED if listed.address and not listed.hidden):
        page.get_by_test_id("stTopNavSection").filter(has_text=entry.group).click()
        page.get_by_test_id("stTopNavDropdownLink").filter(has_text=entry.title).click()
        page.wait_for_url(f"**/{entry.address}?*")
        page.wait_for_selector("h1")

        assert query(page)["m"] == "llama-3.1-8b"
        assert query(page)["b"] == page.locator(".st-key-b input").input_value() == "32"
    page.reload()
    page.locator(".st-key-b input").wait_for()
    assert page.locator(".st-key-in input").input_value() == "3000"


NUMBERS = {"in": "3000", "out": "400", "sp": "60", "ft": "900", "b": "100"}
CHOICES = {
    "m": "llama-3.1-8b", "hw": "h200-sxm", "g": "8", "w": "bf16", "kv": "fp8", "h": "4", "pb": "marketplace",
}  # fmt: skip


def test_every_control_writes_the_address_and_the_copied_link_gives_the_same_figures(visit, site):
    page = visit(f"{site.url}/")
    settled(page, 64)
    for key, value in NUMBERS.items():
        number(page, key, value)
        page.wait_for_url(f"**{key}={value}*")
    for key, value in CHOICES.items():
        choose(page, key, value)
        page.wait_for_url(f"**{key}={value}*")
    number(page, "pr", "2.5")
    page.wait_for_url("**pr=2.5*")
    settled(page, 100)
    link = copied_link(page)
    fresh = visit(link)
    settled(fresh, 100)

    assert query(page) == NUMBERS | CHOICES | {"pr": "2.5"}
    assert {key: value[0] for key, value in parse_qs(urlsplit(link).query).items()}.items() >= query(page).items()
    assert figures(fresh) == figures(page)


def test_the_batch_goes_with_the_reader_from_page_to_page_and_back(visit, site):
    page = visit(f"{site.url}/levers?b=100&g=8")
    settled(page)
    assert "batch 100 of" in page.locator(".price").inner_text()
    number(page, "b", 120)
    page.wait_for_function("document.querySelector('.price').innerText.includes('batch 120 of')")
    for title in ("Cost curve", "Compare"):
        before = query(page)["b"]
        page.get_by_test_id("stTopNavSection").filter(has_text="Explore").click()
        page.get_by_test_id("stTopNavDropdownLink").filter(has_text=title).click()
        page.wait_for_function(f"document.querySelector('.price')?.innerText.includes('batch {before} of')")
        settled(page)
        assert query(page)["b"] == before
        if title == "Cost curve":
            page.locator(".plot-slider input").focus()
            page.keyboard.press("ArrowRight")
            page.wait_for_function(f"new URL(location).searchParams.get('b') !== '{before}'")
            settled(page)
    page.reload()
    settled(page)

    assert f"batch {before} of" in page.locator(".price").inner_text()


MORE_NUMBERS = {"ctx": "3000", "sh": "40", "hit": "50", "busy": "60", "q": "5", "sd": "2", "sa": "80"}
MORE_CHOICES = {"ar": "bf16", "split": "pipeline", "eng": "sglang", "prof": "ideal"}


def test_every_control_behind_more_does_so_too_even_after_the_defaults_changed(visit, site):
    """A copied link holds every setting, so an older version of the defaults says nothing."""
    own = quote("name=mine;bw=4.8e12;cap=141e9;bf16=989e12;link=450e9;n=8")
    page = visit(f"{site.url}/?hw=own&hwx={own}&pr=2")
    settled(page, 64)
    page.get_by_role("button", name="More").click()
    for key, value in MORE_NUMBERS.items():
        number(page, key, value)
        page.wait_for_url(f"**{key}={value}*")
    for key, value in MORE_CHOICES.items():
        choose(page, key, value)
        page.wait_for_url(f"**{key}={value}*")
    page.keyboard.press("Escape")
    settled(page)
    link = copied_link(page)
    fresh = visit(re.sub(r"(&v=[0-9-]+)\.1$", r"\1.0", link))
    settled(fresh, 64)

    assert re.search(r"&v=[0-9-]+\.1$", link)
    given = {"hw", "hwx", "pr"} | MORE_NUMBERS.keys() | MORE_CHOICES.keys()
    assert query(page).keys() == given
    assert figures(fresh) == figures(page)
    assert given | NUMBERS.keys() | CHOICES.keys() == {control.key for control in CONTROLS}


def test_back_and_forward_undo_and_redo_a_control_and_the_slider(visit, site):
    page = visit(f"{site.url}/?g=8")
    settled(page, 64)
    number(page, "out", 400)
    page.wait_for_url("**out=400*")
    settled(page, 64)
    before = figures(page)
    page.locator(".plot-slider input").focus()
    page.keyboard.press("PageUp")
    page.wait_for_url("**b=*")
    batch = query(page)["b"]
    settled(page, batch)
    after = figures(page)
    page.go_back()
    settled(page, 64)
    back = figures(page), query(page)
    page.go_forward()
    settled(page, batch)

    assert back == (before, {"g": "8", "out": "400"})
    assert figures(page) == after != before


def test_ready_made_scenario_is_one_step_of_back_and_forward(visit, site):
    page = visit(f"{site.url}/?g=8")
    settled(page, 64)
    before = figures(page)
    choose(page, "start", "agent")
    page.wait_for_url("**in=20000*")
    page.wait_for_function("document.querySelector('.plot-box').dataset.served !== '64'")
    settled(page)
    agent = figures(page)
    page.go_back()
    settled(page, 64)
    back = figures(page)
    page.go_forward()
    page.wait_for_function("document.querySelector('.plot-box').dataset.served !== '64'")
    settled(page)

    assert back == before
    assert figures(page) == agent
    assert query(page)["sh"] == "90"


def test_figures_slider_writes_the_number_box_and_the_address(visit, site):
    page = visit(f"{site.url}/")
    settled(page, 64)
    page.locator(".plot-slider input").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**?b=*")
    settled(page)

    assert page.locator(".st-key-b input").input_value() == query(page)["b"]
    assert int(query(page)["b"]) > 64


def test_junk_is_said_and_harmless_even_through_back(visit, site):
    page = visit(f"{site.url}/?b=inf&kv=<img src=x onerror=alert(1)>&foo=1&g=8")
    settled(page, 64)
    box = page.locator("[data-testid=stAlert]")

    assert "b=inf isn't a whole number from 1 to 65,536; using 64." in box.inner_text()
    assert "onerror" in box.inner_text()
    assert page.locator("[data-testid=stAlert] img").count() == 0
    assert query(page) == {"g": "8", "foo": "1"}
    page.go_back()
    settled(page, 64)
    assert page.locator("[data-testid=stException]").count() == 0


def test_unknown_model_offers_its_nearest_names(visit, site):
    page = visit(f"{site.url}/?m=llama-3.1-7b&b=32")
    settled(page, 32)

    assert "m=llama-3.1-7b isn't a known model" in page.locator("[data-testid=stAlert]").inner_text()
    page.locator(".st-key-near button", has_text="llama-3.1-8b").click()
    page.wait_for_url("**m=llama-3.1-8b*")
    settled(page, 32)
    assert page.locator("[data-testid=stAlert]").count() == 0


def test_link_of_old_data_keeps_its_price_until_told_otherwise(visit, site):
    page = visit(f"{site.url}/?v=2026-01-05.1&pr=3.5&b=64&sp=30")
    settled(page, 64)
    old = figures(page)

    said = page.locator("[data-testid=stAlert]").inner_text()
    assert "Made with data of 2026-01-05; shown with those prices." in said
    page.get_by_role("button", name="Use today's").click()
    page.wait_for_function(f"document.querySelector('.price').innerText !== {old[1]!r}")
    settled(page)
    assert query(page) == {}


def test_sidebar_needs_no_scrolling_and_the_figure_begins_high(visit, site):
    page = visit(f"{site.url}/")
    settled(page, 64)
    height, seen = page.evaluate(
        "(() => { const e = document.querySelector('[data-testid=stSidebarContent]');"
        " return [e.scrollHeight, e.clientHeight]; })()"
    )

    assert height <= seen
    assert page.locator(".plot-graph").bounding_box()["y"] < 275


def test_phones_summary_opens_the_controls(visit, site):
    page = visit(f"{site.url}/", width=390, height=844)
    settled(page, 64)
    button = page.get_by_role("button", name="llama-3.1-70b fp8 · 4 × H100 SXM")
    button.click()
    page.locator(".st-key-b input").wait_for(state="visible")

    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_present_hides_the_desk_and_arrows_move_the_batch(visit, site):
    page = visit(f"{site.url}/?present=1")
    settled(page, 64)
    assert not page.locator("[data-testid=stSidebar]").is_visible()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**b=*")
    settled(page)

    assert query(page)["present"] == "1"
    assert int(query(page)["b"]) > 64
    assert "llama-3.1-70b, fp8 weights" in page.locator(".scenario-line").inner_text()
    page.get_by_role("button", name="Leave").click()
    page.locator("[data-testid=stSidebar]").wait_for(state="visible")
    assert "present" not in query(page)


def test_embedded_page_is_figure_answer_scenario_line_and_link(visit, site):
    page = visit(f"{site.url}/?embed=true&b=32")
    settled(page, 32)

    assert not page.locator("[data-testid=stSidebar]").is_visible()
    assert page.locator(".answer").is_visible()
    assert page.locator(".scenario-line").is_visible()
    link = page.get_by_role("link", name="Open with all controls").get_attribute("href")
    assert parse_qs(urlsplit(link).query)["b"] == ["32"]


@pytest.mark.parametrize("form", ["svg", "png"])
def test_picture_carries_answer_scenario_and_address(visit, site, form, tmp_path):
    page = visit(f"{site.url}/")
    settled(page, 64)
    page.locator(".st-key-corner [data-testid=stPopoverButton]").click()
    with page.expect_download() as download:
        page.locator(f"[data-action={form}]").click()
    path = tmp_path / f"figure.{form}"
    download.value.save_as(path)

    assert path.stat().st_size > 10_000
    if form == "svg":
        text = path.read_text(encoding="utf-8")
        assert "fp8 weights" in text
        assert "per GPU-hour" in text
        assert "127.0.0.1" in text


def test_copy_link_fills_the_clipboard(visit, site):
    page = visit(f"{site.url}/?b=100")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    settled(page, 100)
    page.locator(".st-key-corner [data-testid=stPopoverButton]").click()
    page.locator("[data-action=link]").click()
    page.get_by_role("button", name="Copy link: copied").wait_for()

    assert "b=100" in page.evaluate("navigator.clipboard.readText()")
