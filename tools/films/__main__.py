"""Make the shipped data files: `make films` for all, or `python -m tools.films NAME …` for some.

`atlas`, `attention`, `outlier` and `trained_keys` read trained models from packages (tools/films/atlas.py),
so `make films` leaves them out: they are made only if they are named. The results are reproducible up to
rounding, which differs between machines.
"""

from __future__ import annotations

import argparse
from importlib import import_module
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


# each is a module of this package, with a function of the same name
FROM_PACKAGES = ("atlas", "attention", "outlier", "trained_keys")


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
        elif name in TABLES:
            TABLES[name]()
        else:
            getattr(import_module(f"tools.films.{name}"), name)()
        print(f"  {name}: {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
