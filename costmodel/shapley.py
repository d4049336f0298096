"""Who saves what when levers are pulled together.

The waterfall gives each lever what it saves in the order chosen. The Shapley share is its mean over
all orders: exact from all combinations up to 12 levers, beyond that from sampled orders with the
error that leaves. Interactions tell which levers help or spoil each other.

References
----------
.. [1] L. S. Shapley, "A Value for n-Person Games", 1953.
.. [2] M. Grabisch, M. Roubens, "An axiomatic approach to the concept of interaction among players
   in cooperative games", 1999.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from costmodel.check import FloatArray
from costmodel.coalitions import price
from costmodel.levers import Lever, Settings, first_of_slots
from costmodel.setups import Setup

Masks = NDArray[np.int64]

EXACT_LEVERS = 12
ORDERS = 128
"""Sampled orders; each is taken in both directions."""
SEED = 1


@dataclass(frozen=True)
class Interaction:
    """What two levers save together beyond what they save apart, on average over the others."""

    first: Lever
    second: Lever
    usd_per_mtok: float
    """Negative where they take the same saving twice."""


@dataclass(frozen=True)
class Split:
    """The saving of levers pulled together, split among them."""

    levers: tuple[Lever, ...]
    before_usd_per_mtok: float
    after_usd_per_mtok: float
    waterfall: FloatArray
    """Cost after each lever, in order."""
    shares: FloatArray
    """Saving of each lever, whatever the order; they add up to the total. [USD/Mtok]"""
    exact: bool
    error: float
    """Half-width of the 95 % interval of the least certain share; 0 when exact. [USD/Mtok]"""
    interactions: tuple[Interaction, ...]
    """Strongest first; empty where orders were sampled."""

    @property
    def total(self) -> float:
        """What all save together. [USD/Mtok]"""
        return self.before_usd_per_mtok - self.after_usd_per_mtok


def split(
    levers: Sequence[Lever], setup: Setup, settings: Settings, *, rechosen: bool = False
) -> Split:
    """Return the saving of levers pulled together, in their order and free of it.

    Parameters
    ----------
    levers : sequence of Lever
        In order; of a slot only the first counts.
    setup : Setup
        Today.
    settings : Settings
        Settled for the setup.
    rechosen : bool
        Whether the batch is chosen anew in every combination; otherwise the lever that fills the
        batch does so, and today's batch stays without it.
    """
    players = first_of_slots(levers)
    n = len(players)
    chain = np.cumsum([0, *(1 << i for i in range(n))]).astype(np.int64)
    if n <= EXACT_LEVERS:
        cost = price(players, setup, settings, rechosen=rechosen).usd_per_mtok
        along = cost[chain]
        return Split(
            levers=players,
            before_usd_per_mtok=float(along[0]),
            after_usd_per_mtok=float(along[-1]),
            waterfall=along[1:],
            shares=shares_of(cost, n),
            exact=True,
            error=0.0,
            interactions=_interactions(cost, players),
        )
    return _sampled(players, setup, settings, chain, rechosen=rechosen)


def shares_of(cost: FloatArray, n: int) -> FloatArray:
    """Return the Shapley share of each of n players from the cost of all combinations.

    Parameters
    ----------
    cost : ndarray, shape (2^n,)
        Entry m is the cost of the combination whose bits are m.

    Examples
    --------
    Two levers that save 3 and 1 alone and 3 together: the second takes from the first.

    >>> shares_of(np.array([10.0, 7.0, 9.0, 7.0]), 2).tolist()
    [2.5, 0.5]
    """
    weight = np.asarray([1 / (n * comb(n - 1, size)) for size in range(n)]) if n else np.zeros(0)
    masks = np.arange(1 << n, dtype=np.int64)
    size = _bits(masks, n)
    shares = np.zeros(n)
    for i in range(n):
        without = masks[(masks >> i) & 1 == 0]
        shares[i] = weight[size[without]] @ (cost[without] - cost[without | (1 << i)])
    return shares


def _bits(masks: Masks, n: int) -> Masks:
    """Return how many levers each combination has."""
    return sum(((masks >> i) & 1 for i in range(n)), start=np.zeros_like(masks))


def _interactions(cost: FloatArray, players: tuple[Lever, ...]) -> tuple[Interaction, ...]:
    """Return the Shapley interaction index of each pair, largest size first."""
    n = len(players)
    if n < 2:
        return ()
    weight = np.asarray(
        [factorial(n - s - 2) * factorial(s) / factorial(n - 1) for s in range(n - 1)]
    )
    masks = np.arange(1 << n, dtype=np.int64)
    size = _bits(masks, n)
    found = []
    for i in range(n):
        for j in range(i + 1, n):
            one, two = 1 << i, 1 << j
            rest = masks[(masks & (one | two)) == 0]
            more = cost[rest | one] + cost[rest | two] - cost[rest | one | two] - cost[rest]
            found.append(Interaction(players[i], players[j], float(weight[size[rest]] @ more)))
    return tuple(sorted(found, key=lambda p: -abs(p.usd_per_mtok)))


def _sampled(
    players: tuple[Lever, ...],
    setup: Setup,
    settings: Settings,
    chain: Masks,
    *,
    rechosen: bool,
) -> Split:
    n = len(players)
    chance = np.random.default_rng(SEED)
    half = np.argsort(chance.random((ORDERS, n)), axis=1)
    orders = np.concatenate([half, half[:, ::-1]])
    walks = np.zeros((len(orders), n + 1), dtype=np.int64)
    walks[:, 1:] = np.cumsum(1 << orders, axis=1)
    masks, place = np.unique(np.concatenate([walks.ravel(), chain]), return_inverse=True)
    cost = price(players, setup, settings, masks=masks, rechosen=rechosen).usd_per_mtok[place]
    along, cost = cost[walks.size :], cost[: walks.size].reshape(walks.shape)
    saved = np.zeros((len(orders), n))
    np.put_along_axis(saved, orders, cost[:, :-1] - cost[:, 1:], axis=1)
    # An order and its reverse are one observation.
    pairs = (saved[:ORDERS] + saved[ORDERS:]) / 2
    return Split(
        levers=players,
        before_usd_per_mtok=float(along[0]),
        after_usd_per_mtok=float(along[-1]),
        waterfall=along[1:],
        shares=saved.mean(axis=0),
        exact=False,
        error=float((1.96 * pairs.std(axis=0, ddof=1) / np.sqrt(ORDERS)).max()),
        interactions=(),
    )
