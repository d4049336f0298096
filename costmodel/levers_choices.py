"""What a lever changes to where nobody has said: the next smaller model, the next accelerator."""

import re
from functools import lru_cache

from costmodel import catalog
from costmodel.case import find_model

_SIZE = re.compile(r"^(?P<family>.*?)(?P<size>\d+(?:\.\d+)?)b(?:-|$)")
_CLEARLY_SMALLER = 0.7
_CLEARLY_FASTER = 1.33


@lru_cache(maxsize=256)
def next_smaller(model: str) -> str:
    """Return the next smaller preset of a model's family by the sizes in names; "" if none.

    >>> next_smaller("llama-3.1-405b"), next_smaller("llama-3.1-8b")
    ('llama-3.1-70b', '')
    """
    own = _SIZE.match(find_model(model).short)
    if own is None:
        return ""
    found = []
    for entry in catalog.models():
        other = _SIZE.match(entry.short)
        if other is None or other["family"] != own["family"]:
            continue
        if float(other["size"]) <= _CLEARLY_SMALLER * float(own["size"]):
            found.append((float(other["size"]), entry.short))
    return max(found)[1] if found else ""


@lru_cache(maxsize=256)
def next_accelerator(hardware: str, basis: str, gpus: int) -> str:
    """Return the next faster accelerator of the same vendor that has a price; "" if none.

    Its memory is faster by a third at least and no smaller, and its link joins as many GPUs as the
    old one's does of those wanted.

    >>> next_accelerator("h100-sxm", "on-demand", 4)
    'h200-sxm'
    """
    own = catalog.accelerator(hardware)
    joined = min(own.domain, gpus)
    found = [
        card
        for card in catalog.hardware().values()
        if card.vendor == own.vendor
        and card.year >= own.year
        and card.domain >= joined
        and card.bandwidth_bytes_per_s >= _CLEARLY_FASTER * own.bandwidth_bytes_per_s
        and card.capacity_bytes >= own.capacity_bytes
        and catalog.price(card.id, basis).usd_per_gpu_hour is not None
    ]
    return min(found, key=lambda c: (c.bandwidth_bytes_per_s, c.id)).id if found else ""
