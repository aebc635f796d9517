"""The contents of films/ agree with NumPy's results.

One short training and one count of sheets are also made again, by the code that made films/.
"""

from itertools import product

import numpy as np
import pytest

from learning.attention import NORMS
from learning.datasets import digits
from learning.film import from_npz, score
from learning.shipped import FOLDER, table
from learning.shipped import film as shipped
from tools.films import __main__ as films
from tools.films import ffn, majority, networks, sheets, store

NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))
SINGLE = 2e-3  # float32 weights and sums, in training, against the same sums in NumPy


def test_all_films_are_there_and_small():
    labels = [f"labels_{m}_{depth}" for m in networks.RANDOM_POINT_COUNTS for depth in networks.DEPTHS]
    counting = [f"majority_{norm}_{rate}" for norm in NORMS for rate in majority.RATES]
    functions = product(ffn.TRAINING_POINTS, ("relu", "gelu"), ffn.EXPANSIONS)
    feed_forward = [f"ffn_{norm}_{function}_{k}" for norm, function, k in functions]
    assert sorted([*networks.FILMS, *labels, *counting, *feed_forward, "digits"]) == NAMES
    recordings = [path.stat().st_size for path in FOLDER.glob("norms_*.safetensors")]
    assert len(recordings) == 6 and max(recordings) <= 400_000
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) - sum(recordings) < 6 * 2**20


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_film_has_the_loss_and_accuracy_that_it_claims(name):
    film = shipped(name)
    best, network, points = film.best(), film.network, film.data.points
    labels, weight = network.answers(points, film.data.labels, np.ones(len(points)))
    for k in (0, len(film.steps) // 2, -1):
        logits = network.logits(network.parts(film.weights[best, k]), points)
        loss, accuracy = score(logits, labels, weight)
        assert loss == pytest.approx(film.loss[best, k], abs=SINGLE)
        assert abs(accuracy - film.accuracy[best, k]) <= 1.01 / len(
            film.data.points
        )  # a point on the boundary


@pytest.mark.parametrize(("name", "share"), [("spiral", 1), ("spiral_15", 0.2), ("octants", 0.2), ("xor", 1)])
def test_so_many_seeds_solve_it(name, share):
    assert shipped(name).solved().mean() >= share


def test_networks_whose_only_bend_is_u_eps_read_digits():
    rows = [row for row in table("digits") if row["middle"] == "u_eps" and row["last"] == networks.WIDE_LAYER]
    assert max(min(row["accuracies"]) for row in rows) >= 0.95
    film, (_, test) = shipped("digits"), digits(seed=0)
    assert film.network.middle == "u_eps" and film.network.hidden_widths[-1] == 3
    np.testing.assert_array_equal(film.data.points, test.points)
    np.testing.assert_array_equal(film.data.images, test.images)
    assert film.accuracy[0, -1] >= 0.93
    last = film.pipeline(0).stages(test.points, {"step": film.steps[-1]})[-2]
    assert last.shape == (360, 3) and (np.linalg.norm(last, axis=-1) <= 1 + 1e-6).all()


def test_the_tables_are_whole():
    counting = [(row["rate"], row["norm"]) for row in table("majority")]
    assert counting == [(rate, norm) for rate in majority.RATES for norm in NORMS]
    assert [(row["m"], row["depth"]) for row in table("labels")] == [
        (m, depth) for m in networks.RANDOM_POINT_COUNTS for depth in networks.DEPTHS
    ]
    assert all(0 <= row["fitted"] <= 1 for row in table("labels"))
    starts = [(row["lr"], row["steps"], row["set"]) for row in table("starts")]
    assert starts == [(*each, k) for each in networks.START_SETTINGS for k in range(networks.LABELLINGS)]
    assert all(set(row["fitted"]) <= set(range(row["networks"])) for row in table("starts"))
    assert len(table("digits")) == len({(r["middle"], r["depth"], r["last"]) for r in table("digits")}) == 40


def test_the_table_of_sheets_keeps_the_bound():
    rows = table("sheets")
    assert [row["norms"] for row in rows] == list(sheets.NORM_COUNTS)
    for row in rows:
        assert row["bound"] == 2 ** (row["norms"] - 1)
        assert len(row["sheets"]) == len(row["same"]) == len(row["accuracy"]) == 32
        assert min(row["sheets"]) >= 1 and max(row["sheets"]) <= row["bound"]


def test_sheets_counted_anew():
    row = sheets.counted(2, shipped("spiral"))
    assert row["bound"] == 2 and np.bincount(row["sheets"]).tolist() == [0, 1, 31]
    assert row["accuracy"] == pytest.approx(shipped("spiral").accuracy[:, -1], abs=1e-4)


def test_a_short_film_made_anew(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    film = networks.spiral_film(1, 2, seeds=2, steps=300)
    store.write("short", film)
    again = from_npz((tmp_path / "short.npz").read_bytes())
    # another machine rounds differently, but so early in training that is not yet amplified
    shipped_loss = [np.interp(200, shipped("spiral").steps, shipped("spiral").loss[k]) for k in range(2)]
    for k in range(2):
        assert np.interp(200, again.steps, again.loss[k]) == pytest.approx(shipped_loss[k], abs=0.01)
    assert "short: accuracy" in capsys.readouterr().out


def test_an_unknown_film_is_named(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["films", "spirals"])
    with pytest.raises(SystemExit) as ended:
        films.main()
    assert ended.value.code == 2 and "no film spirals: take of spiral, spiral_15" in capsys.readouterr().err
