"""Names find their presets; broken files are told by block, line and field."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import blocks, catalog, names
from costmodel.errors import InputError

BLOCK = """
[my-card]
name = "My Card"
short = "My Card"
vendor = "Me"
family = "own"
year = 2026
link = ""
domain = 1
source = "https://example.org/"
as_of = 2026-11-30
[my-card.facts]
bandwidth_bytes_per_s = { value = 1e12, unit = "bytes/s" }
"""

SPELLINGS = {  # as benchmark tables write them
    "H100-SXM-80GB": "h100-sxm", "B200-SXM-180GB": "b200-sxm", "H200-SXM-141GB": "h200-sxm",
    "A100-SXM-80GB": "a100-sxm-80gb", "A100-PCIe-80GB": "a100-pcie-80gb",
    "A100-SXM-40GB": "a100-sxm-40gb", "MI300X-192GB": "mi300x", "MI250-128GB": "mi250",
    "MI325X-256GB": "mi325x", "MI355X-288GB": "mi355x", "B300-SXM-288GB": "b300-sxm",
    "GB200-NVL72": "gb200-nvl72", "GH200-96GB": "gh200-96gb", "H200-NVL-141GB": "h200-nvl",
    "H20-96GB": "h20-sxm", "L40S-48GB": "l40s", "A10G-24GB": "a10g", "A10-24GB": "a10",
    "A40-48GB": "a40", "H100-PCIe-80GB": "h100-pcie", "DGX-Spark-GB10-128GB": "dgx-spark",
    "Apple-M2-Ultra-76c": "apple-m2-ultra", "Apple-M3-Max-40c": "apple-m3-max",
    "Apple-M3-Ultra-80c": "apple-m3-ultra", "Apple-M1-Max-32c": "apple-m1-max",
    "Apple-M1-7c": "apple-m1", "Apple-M4-10c": "apple-m4", "Gaudi2-96GB": "gaudi-2",
    "Ryzen-AI-Max-395-128GB": "ryzen-ai-max-395", "Ryzen AI Max+ 395 (Strix Halo)":
    "ryzen-ai-max-395", "RTX-PRO-6000-Blackwell-Server-96GB": "rtx-pro-6000-blackwell-server",
    "Arc-Pro-B60-24GB": "arc-pro-b60", "Jetson-AGX-Orin-64GB": "jetson-agx-orin-64gb",
    "RTX-2080Ti-11GB": "rtx-2080-ti", "RTX-3060-12GB": "rtx-3060", "RTX-3070-8GB": "rtx-3070",
    "RTX-3080-10GB": "rtx-3080", "RTX-3080Ti-12GB": "rtx-3080-ti", "RTX-3090-24GB": "rtx-3090",
    "RTX-3090Ti-24GB": "rtx-3090-ti", "RTX-4070Ti-12GB": "rtx-4070-ti",
    "RTX-4080-16GB": "rtx-4080", "RTX-4090-24GB": "rtx-4090", "RTX-5090-32GB": "rtx-5090",
    "RTX-5070-Laptop-8GB": "rtx-5070-laptop", "RTX-A4000-16GB": "rtx-a4000",
    "RTX-A6000-48GB": "rtx-a6000", "RTX-4000-Ada-20GB": "rtx-4000-ada",
    "RTX-5000-Ada-32GB": "rtx-5000-ada", "RTX-6000-Ada-48GB": "rtx-6000-ada",
    "RX-7900XT-20GB": "rx-7900-xt", "RX-7900XTX-24GB": "rx-7900-xtx",
    "RX-9070XT-16GB": "rx-9070-xt", "Radeon-AI-Pro-R9700-32GB": "radeon-ai-pro-r9700",
    "Tesla-P40-24GB": "tesla-p40", "Wormhole-n150": "wormhole-n150",
    "Wormhole-n300": "wormhole-n300", "Blackhole-p150": "blackhole-p150",
    "GB200 NVL72 (per GPU)": "gb200-nvl72", "TPU v6e (Trillium)": "tpu-v6e",
    "2x EPYC 9965 (Turin, DDR5-6400)": "2x-epyc-9965", "h100_sxm": "h100-sxm", "b200": "b200-sxm",
    "T4-16GB": "t4", "trillium": "tpu-v6e", "4090": "rtx-4090", "  L4 ": "l4",
}  # fmt: skip


def refused(name):
    """Return the sentence that refuses a name, or nothing where it is a card's."""
    try:
        catalog.accelerator(name)
    except InputError as error:
        return error.sentence
    return ""


@pytest.mark.parametrize(("typed", "key"), SPELLINGS.items(), ids=list(SPELLINGS))
def test_spellings_of_benchmark_tables_resolve(typed, key):
    """In any case."""
    assert catalog.accelerator(typed).id == key
    assert catalog.accelerator(typed.upper()).id == key


def test_ids_shorts_and_aliases_resolve_to_their_own():
    """Every way to write a card leads to that card alone."""
    for key, card in catalog.hardware().items():
        for name in (key, card.short, *card.aliases):
            assert catalog.accelerator(name).id == key


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("h100", ["h100-nvl", "h100-pcie", "h100-sxm"]),
        ("H100-80GB", ["h100-pcie", "h100-sxm"]),
        ("a100", ["a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm-40gb", "a100-sxm-80gb"]),
        ("a100-80gb", ["a100-pcie-80gb", "a100-sxm-80gb"]),
        ("a100-sxm", ["a100-sxm-40gb", "a100-sxm-80gb"]),
        ("h200", ["h200-nvl", "h200-sxm"]),
        ("v100", ["v100-sxm2-16gb", "v100-sxm2-32gb"]),
        ("gh200", ["gh200-144gb", "gh200-96gb"]),
    ],
)
def test_an_ambiguous_name_is_an_error_that_lists_the_cards(typed, named):
    """Picking one silently would give a wrong price."""
    with pytest.raises(InputError) as caught:
        catalog.accelerator(typed)

    assert f"which fits {', '.join(named)}; pick one" in caught.value.sentence
    assert caught.value.field == "hardware"


@pytest.mark.parametrize(
    ("typed", "close"),
    [("h10-sxm", "h100-sxm"), ("mi300y", "mi300x"), ("l40", "l40s"), ("gb200-nvl7", "gb200-nvl72")],
)
def test_a_typo_gets_the_nearest_names(typed, close):
    """The first is the likeliest."""
    assert close in refused(typed)


def test_a_memory_size_that_disagrees_is_no_name():
    """An H100 with 96 GB is some other card."""
    with pytest.raises(InputError, match="got 'h100-sxm-96gb'"):
        catalog.accelerator("h100-sxm-96gb")


@given(st.text(max_size=300))
def test_any_text_is_a_card_or_one_line(text):
    """Junk never ends in another exception."""
    sentence = refused(text)

    assert "\n" not in sentence
    assert len(sentence) < 500


def test_reading_block_by_block_equals_reading_the_file():
    """The lazy reader misses no block and no fact."""
    whole = tomllib.loads(catalog._text(catalog.HARDWARE))
    cards = catalog.hardware()

    assert list(whole) == list(cards)
    assert {k: set(v["facts"]) for k, v in whole.items()} == {k: set(v.facts) for k, v in cards.items()}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'link = ""',
            'link = ""\ncolour = "red"',
            "block my-card of hardware.toml must hold known .* got 'colour'",
        ),
        ("vendor", "vender", "block my-card .* got 'vender'; did you mean vendor"),
        ('vendor = "Me"\n', "", "block my-card of hardware.toml must hold vendor, got none"),
        ("year = 2026", 'year = "2026"', "year of block my-card .* wrong type, got '2026'"),
        ("domain = 1", "domain = true", "domain of block my-card .* wrong type"),
        ("domain = 1", "domain = 0", "domain in block my-card .* must be between 1"),
        ("bandwidth_b", "bandwith_b", "got 'bandwith_bytes_per_s'; did you mean bandwidth_bytes"),
        ("1e12", "-1e12", "value of bandwidth_bytes_per_s in block my-card"),
        ("1e12", "nan", "value of bandwidth_bytes_per_s in block my-card"),
        ('"bytes/s"', '"GB/s"', "unit of bandwidth_bytes_per_s .* must be bytes/s, got 'GB/s'"),
        ("value = 1e12, ", "", "must hold value"),
        ('{ value = 1e12, unit = "bytes/s" }', "1e12", "must be a table of value and unit"),
        ("as_of = 2026-11-30\n", "", "must hold as_of"),
        ("as_of = 2026-11-30", 'as_of = 2026-11-30\nchecked = "sure"', "checked of .* got 'sure'"),
        ("year = 2026", "year = ", "must be valid TOML, got an error in block my-card"),
        ("bandwidth_bytes_per_s", "power_w", "unit of power_w"),
    ],
)
def test_a_broken_block_is_told(old, new, message):
    """Each sentence names the block and the field."""
    with pytest.raises(InputError, match=message):
        blocks.Accelerators(BLOCK.replace(old, new))["my-card"]


def test_names_are_unique_in_the_file():
    """A second block or a stolen alias would make a name mean two cards."""
    twin = BLOCK.replace("my-card", "my-twin")

    assert blocks.Accelerators(BLOCK)["my-card"].bandwidth_bytes_per_s == 1e12
    with pytest.raises(InputError, match="got two 'my-card'"):
        blocks.split(BLOCK + BLOCK)
    with pytest.raises(InputError, match="got 'my-card' in my-card and my-twin"):
        blocks.spellings(BLOCK + twin)
    with pytest.raises(InputError, match="got 'My_Card'; write my-card"):
        blocks.split(BLOCK.replace("my-card", "My_Card"))


def test_a_missing_file_is_told(monkeypatch, tmp_path):
    """Not a traceback of the file system."""
    monkeypatch.setattr(catalog, "PRESETS", tmp_path)
    with pytest.raises(InputError, match=r"must hold nothing\.csv"):
        catalog._text("nothing.csv")


def test_slug_keeps_dots_of_versions():
    """Models carry them."""
    assert names.slug("Llama-3.1 70B (Instruct)") == "llama-3.1-70b"
