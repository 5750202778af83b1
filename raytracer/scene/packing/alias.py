"""Tables to draw entries by their shares in constant time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def alias_table(share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return threshold and alias of each entry: an entry that was drawn evenly stands for itself
    below its threshold, and above for its alias.

    A. J. Walker, "An Efficient Method for Generating Discrete Random Variables", ACM TOMS 3(3),
    1977. The light entries take what they lack from the heavy ones in their order, so that both
    are found by sums of all before them: L. Huebschle-Schneider, P. Sanders, "Parallel Weighted
    Random Sampling", ACM TOMS 48(3), 2022.

    Args:
        share: probabilities, float64 (E,), with sum 1.
    """
    import numpy as np

    part = share * (len(share) / share.sum())
    light, heavy = np.flatnonzero(part < 1.0), np.flatnonzero(part >= 1.0)
    threshold, alias = np.ones(len(share)), np.arange(len(share))
    if not len(light) or not len(heavy):
        return threshold, alias
    threshold[light] = part[light]
    before, spare = 1.0 - part[light], np.cumsum(part[heavy] - 1.0)
    del part
    lacking = np.cumsum(before)
    # A light entry takes all that it lacks of the heavy one that still had something before it.
    np.subtract(lacking, before, out=before)
    giver = np.minimum(np.searchsorted(spare, before, side="right"), len(heavy) - 1)
    alias[light] = heavy[giver]
    del giver
    # A heavy one that gave more than it had takes the rest of the next.
    last = np.searchsorted(before, spare, side="left") - 1  # light entry that began to take of it
    given = np.where(last >= 0, lacking[np.maximum(last, 0)], 0.0)
    owed = np.clip(given - spare, 0.0, 1.0)[:-1]
    threshold[heavy[:-1]] = 1.0 - owed
    alias[heavy[:-1]] = heavy[1:]
    return threshold, alias
