"""Make the shipped data files: `make films` for all, or `python -m tools.films NAME …` for some.

`atlas`, `attention`, `outlier` and `trained_keys` read trained models from packages (tools/films/atlas.py),
so `make films` leaves them out: they are made only if they are named. The results are reproducible up to
rounding, which differs between machines.
"""

from __future__ import annotations

import argparse
from time import perf_counter

from tools.films.depth import depth
from tools.films.ffn import ffn
from tools.films.heads import heads
from tools.films.language import language, norms, sliding
from tools.films.majority import counting, falling, lengths
from tools.films.networks import FILMS, digits_table, labels, starts
from tools.films.placement import placement
from tools.films.sheets import sheets
from tools.films.soft_heads import soft_heads
from tools.films.store import write
from tools.films.symmetrise import symmetrise
from tools.films.unselectable import unselectable

TABLES = {
    "ffn": ffn,
    "majority": counting,
    "falling": falling,
    "lengths": lengths,
    "labels": labels,
    "starts": starts,
    "digits": digits_table,
    "unselectable": unselectable,
    "language": language,
    "drift": sliding,
    "depth": depth,
    "placement": placement,
    "sheets": sheets,
    "heads": heads,
    "soft_heads": soft_heads,
    "symmetrise": symmetrise,
    "norms": norms,
}


def _atlas() -> None:
    from tools.films.atlas import MODELS, atlas

    for name in MODELS:
        atlas(name)


def _outlier() -> None:
    from tools.films.outlier import outlier

    outlier()


def _attention() -> None:
    from tools.films.attention import attention

    attention()


def _trained_keys() -> None:
    from tools.films.trained_keys import trained_keys

    trained_keys()


FROM_PACKAGES = {"atlas": _atlas, "attention": _attention, "outlier": _outlier, "trained_keys": _trained_keys}


def main() -> None:
    known = [*FILMS, *TABLES, *FROM_PACKAGES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help=f"of {', '.join(known)}; all but {' and '.join(FROM_PACKAGES)} where none is given",
    )
    names = parser.parse_args().names or [*FILMS, *TABLES]
    if unknown := set(names) - set(known):
        parser.error(f"no film {', '.join(sorted(unknown))}: take of {', '.join(known)}")
    for name in names:
        start = perf_counter()
        if name in FILMS:
            write(name, FILMS[name]())
        else:
            (TABLES | FROM_PACKAGES)[name]()
        print(f"  {name}: {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
