"""Count the sheets (inputs mapped to one direction) of networks trained on a spiral, for `strands`."""

from __future__ import annotations

from typing import Any

from learning.film import Film
from tools.films.networks import spiral_film
from tools.films.sheet_counts import most_sheets, same_without_eps
from tools.films.store import write_table

TURNS, STEPS = 1.5, 8000
NORM_COUNTS = range(2, 7)


def sheets() -> None:
    """Write the table "sheets": the sheet counts of networks trained on a spiral.

    It has a row for each number of normalisation layers in NORM_COUNTS. A network's sheet count is the
    largest number of inputs that it maps to the same direction.
    """
    rows = []
    for norms in NORM_COUNTS:
        rows.append(counted(norms, spiral_film(TURNS, norms, steps=STEPS)))
        print(f"  sheets: {rows[-1]}", flush=True)
    write_table("sheets", rows)


def counted(norms: int, film: Film) -> dict[str, Any]:
    """The table row for the networks in `film`. The last three columns have one number per network.

    norms     the number of normalisation layers of each network
    bound     the upper bound of the sheet count, 2^(norms − 1)
    sheets    the largest number of inputs that the network maps to the same direction, for ε = 0
    same      the share of training points that keep their predicted class if ε is set to 0
    accuracy  the accuracy at the end of training
    """
    ends = film.weights[:, -1]
    return {
        "norms": norms,
        "bound": 2 ** (norms - 1),
        "sheets": [most_sheets(film.network, flat) for flat in ends],
        "same": [round(same_without_eps(film.network, flat, film.data.points), 4) for flat in ends],
        "accuracy": [round(float(each), 4) for each in film.accuracy[:, -1]],
    }
