"""Speculative decoding: tokens per pass, and what drafting costs.

Drafts come from one more layer of the model's own kind with its table and head (as prediction
layers and EAGLE heads do): its weights and cache are resident, and it runs once per drafted token.
"""

from dataclasses import replace
from functools import lru_cache

from costmodel.model import Model
from costmodel.work import Bits, Parallel, Plan, plan


def passes(*, tokens: int, acceptance: float) -> float:
    """Return τ, the tokens that one pass yields: (1 − α^(γ+1)) / (1 − α).

    Parameters
    ----------
    tokens : int
        γ, tokens drafted per pass.
    acceptance : float
        α, chance that a drafted token is accepted, in [0, 1].

    References
    ----------
    .. [1] Y. Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", 2023.

    Examples
    --------
    >>> passes(tokens=0, acceptance=0.7)
    1.0
    >>> round(passes(tokens=3, acceptance=0.7), 3)
    2.533
    """
    return float(sum(acceptance**i for i in range(tokens + 1)))


@lru_cache(maxsize=128)
def draft_plan(model: Model, bits: Bits, parallel: Parallel) -> Plan:
    """Return the work of drafting one token: the model's last kind of layer, once, and its head."""
    last = next((layer for layer in reversed(model.layers) if layer.mixer), model.layers[-1])
    one = replace(model, layers=(replace(last, count=1),), short=f"{model.short} draft layer")
    return plan(one, bits, replace(parallel, stages=1))
