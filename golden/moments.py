"""What a largest error does not show: errors that are too large on average, or lean to one side.

A multiplication that truncates, a sum rounded toward zero, a table with a wrong entry: each error is small enough, but
together they are more than a good implementation's. Both tests hold at one stated confidence, for errors as shares
z of the drift bound, so that no z is beyond 1 in magnitude:

- the sum of n independent errors, as often positive as negative, exceeds t * sqrt(sum of z**2) with a probability below
  2 exp(-t**2 / 2) (self-normalized sums: Efron, J. American Statistical Association 64, 1969);
- the mean of z**2 exceeds its expectation p by more than e with a probability below exp(-n e**2 / (2 p + 2 e / 3))
  (Bernstein's inequality, since the variance of z**2 is at most p).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 25.0
"""Each test accuses a good implementation with a probability below 2 exp(-25), less than 3 in 10**11."""

LEAST = 64
"""Elements below which nothing is said: a bias cannot be told from chance."""


@dataclass(frozen=True)
class Moments:
    """What the errors of one output have in common.

    ``rms_share`` is their root mean square over the largest that chance allows a good implementation, ``deviations``
    how far their sum is beyond a good implementation's bias, in the unit t above, with its sign. ``of_magnitude`` says
    that it is the sum of what the errors add to magnitudes, as rounding toward zero makes all results smaller.
    """

    rms_share: float
    deviations: float
    of_magnitude: bool = False

    @property
    def biased(self) -> bool:
        return abs(self.deviations) > math.sqrt(2 * CONFIDENCE)

    @property
    def suspicious(self) -> bool:
        return self.biased or self.rms_share > 1

    @property
    def detail(self) -> str:
        """What is suspicious, in words; "" for nothing."""
        if self.biased:
            sides = ("larger", "smaller") if self.of_magnitude else ("above the true ones", "below the true ones")
            side = sides[self.deviations < 0]
            return f"biased: results are {side}, {abs(self.deviations):.1f} deviations from chance"
        if self.rms_share > 1:
            return f"the root mean square error is {self.rms_share:.2f} of the largest that is to be expected"
        return ""


def moments(
    shares: np.ndarray,
    values: np.ndarray,
    nominal: np.ndarray,
    *,
    noise: float,
    bias: float,
    shared: Iterable[np.ndarray] = (),
) -> Moments | None:
    """Return the moments of errors ``shares`` (of their drift bounds) at golden ``values``; None for too few.

    ``nominal`` are the shares of golden's own rounding: where true results lie just beside the middle of two numbers,
    as half of a subnormal number does, rounding them rightly is biased too. ``noise`` is the root mean square, ``bias``
    the mean that a good implementation may have, both as such shares. Elements with equal golden values have equal
    errors too often to count as independent: when something looks suspicious it must look so for distinct values alone.
    Elements that are equal in one of the arrays ``shared`` come from one operand, and so do their errors: it must look
    so where all of them count once, by their means, too.
    """
    if shares.size < LEAST:
        return None
    found = _moments(np.clip(shares, -1.0, 1.0), np.sign(values), np.zeros(shares.shape), noise, bias)
    if not found.suspicious:
        return found
    _, distinct = np.unique(values, return_index=True)
    of_distinct = np.clip(shares[distinct], -1.0, 1.0), np.sign(values[distinct]), nominal[distinct]
    groupings = [None, *(np.unique(operand[distinct], return_inverse=True)[1] for operand in shared)]
    for groups in groupings:
        if (distinct.size if groups is None else groups.max() + 1) < LEAST:
            return None
        found = _moments(*of_distinct, noise, bias, groups)
        if not found.suspicious:
            break
    return found


def _moments(
    shares: np.ndarray,
    signs: np.ndarray,
    nominal: np.ndarray,
    noise: float,
    bias: float,
    groups: np.ndarray | None = None,
) -> Moments:
    """Return the moments of ``shares``; of their means where ``groups`` numbers what belongs together."""

    def means(each: np.ndarray) -> np.ndarray:
        return each if groups is None else np.bincount(groups, each) / np.bincount(groups)

    signed, outward, squares = means(shares), means(shares * signs), means(np.square(shares))
    return moments_of_sums(
        signed.size,
        squares=float(squares.sum()),
        total=float(signed.sum()),
        outward=float(outward.sum()),
        noise=max(noise, math.sqrt(float(means(np.square(nominal)).mean()))),
        bias=bias,
        nominal=(float(means(nominal).sum()), float(means(nominal * signs).sum())),
        spreads=(float(np.square(signed).sum()), float(np.square(outward).sum())),
    )


def moments_of_sums(
    n: int,
    *,
    squares: float,
    total: float,
    outward: float,
    noise: float,
    bias: float,
    nominal: tuple[float, float] = (0.0, 0.0),
    spreads: tuple[float, float] | None = None,
) -> Moments:
    """Return the moments of ``n`` shares of which these are the sums: of squares, of all, of what adds to magnitudes.

    ``nominal`` are the last two sums of the shares of golden's own rounding, ``spreads`` the sums of squares of what
    the last two add up, where these are means of several shares.
    """

    def deviations(total: float, own: float, spread: float) -> float:
        beyond = max(abs(total) - n * bias - abs(own), 0.0)
        return math.copysign(beyond / math.sqrt(spread), total) if beyond and spread else 0.0

    of_signed, of_outward = spreads or (squares, squares)
    signed, away = deviations(total, nominal[0], of_signed), deviations(outward, nominal[1], of_outward)
    expected, chance = min(noise**2, 1.0), CONFIDENCE / (3 * n)
    largest = expected + chance + math.sqrt(chance**2 + 2 * expected * CONFIDENCE / n)
    of_magnitude = abs(away) > abs(signed)
    return Moments(math.sqrt(squares / n / largest), away if of_magnitude else signed, of_magnitude)
