"""Accelerators typed in as text: what is taken, what is refused and in which words."""

import math

import pytest

from costmodel import catalog, custom
from costmodel.errors import InputError
from costmodel.explore import point
from costmodel.scenario import scenario

H100 = "custom:name=mine;bw=3.35e12;cap=85.5e9;bf16=989.4e12;fp8=1978.9e12;link=450e9;n=8"


def test_text_and_accelerator_are_each_others_inverse():
    text = custom.text(
        name="mine", values={"bw": 3.35e12, "cap": 80e9, "bf16": 989e12, "fp8": 0, "link": 450e9, "n": 8}
    )
    own = custom.typed(custom.PREFIX + text)

    assert (own.short, own.bandwidth_bytes_per_s, own.capacity_bytes) == ("mine", 3.35e12, 80e9)
    assert (own.has("fp8"), own.domain, own.link_bytes_per_s) == (False, 8, 450e9)


def test_the_same_figures_cost_the_same_as_the_preset():
    h100 = catalog.accelerator("h100-sxm")
    values = {
        "bw": h100.bandwidth_bytes_per_s, "cap": h100.capacity_bytes, "bf16": h100.flops_per_s("bf16"),
        "fp8": h100.flops_per_s("fp8"), "link": h100.link_bytes_per_s, "n": h100.domain,
    }  # fmt: skip
    ideal = {"weights": "fp8", "profile": "ideal", "price_usd_per_gpu_hour": 2.0}
    own = point(scenario(hardware="custom:" + custom.text(name="mine", values=values), **ideal))
    preset = point(scenario(hardware="h100-sxm", **ideal))

    assert float(own.usd_per_mtok) == pytest.approx(float(preset.usd_per_mtok), rel=1e-4)


def test_no_price_is_said_not_guessed():
    found = point(scenario(hardware=H100))

    assert math.isnan(float(found.usd_per_mtok))
    assert "no dated" in found.case.price_reasons[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("custom:bw=1e12", "must say cap"),
        ("custom:bw=x;cap=80e9;bf16=1e15", "give bw as a number, got 'x'"),
        ("custom:bw=1e12;cap=80e9", "bf16, fp16 or fp32"),
        ("custom:bw=1e12;bw=2e12;cap=80e9;bf16=1e15", "got bw twice"),
        ("custom:bw=1e12;cap=80e9;bf17=1e15", "did you mean bf16"),
        ("custom:bw=nan;cap=80e9;bf16=1e15", "bandwidth_bytes_per_s must be"),
        ("custom:bw=1e12;cap=80e9;bf16=1e15;link=1e11;n=inf", "n must be"),
        ("custom:bw=1;cap=80e9;bf16=1e15", "between 1e+09 and 1e+15"),
    ],
)
def test_junk_is_refused_in_one_sentence(text, said):
    with pytest.raises(InputError) as caught:
        catalog.accelerator(text)

    assert said in caught.value.sentence
    assert "\n" not in caught.value.sentence
