"""Photograph every page in both themes, on a desk and on a phone, into build/shots."""

from pathlib import Path

from playwright.sync_api import Error, Page

from tools.browser import launched
from tools.server import ROOT, served
from ui import navigation

SIZES = {"1440": (1440, 900), "390": (390, 844)}
THEMES = ("light", "dark")


def settle(page: Page) -> None:
    """Wait until the script has run and every figure on the page is drawn."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=20_000)
    page.wait_for_function(
        "[...document.querySelectorAll('.plot-box')].every(box => box.dataset.painted)", timeout=20_000
    )
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')", timeout=20_000)
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)


def main() -> None:
    """Take every picture and say where it lies."""
    folder = ROOT / "build" / "shots"
    folder.mkdir(parents=True, exist_ok=True)
    with served() as site, launched() as browser:
        for theme in THEMES:
            for name, (width, height) in SIZES.items():
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=theme, device_scale_factor=1
                )
                page = context.new_page()
                for entry in navigation.LISTED:
                    target = folder / f"{entry.file}-{theme}-{name}.png"
                    _take(page, f"{site.url}/{entry.address}", target)
                context.close()


def _take(page: Page, url: str, target: Path) -> None:
    page.goto(url)
    try:
        settle(page)
    except Error as error:
        print(f"{target.name}: not settled ({error.message.splitlines()[0]})")
    page.screenshot(path=target)
    print(target.relative_to(ROOT))


if __name__ == "__main__":
    main()
