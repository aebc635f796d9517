"""Exports on the command line, as far as they need no browser; errors are one line."""

import asyncio
import io
import itertools
import json
import re
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import imageio_ffmpeg
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import app
from components.language.link import key
from components.language.scene import scenes
from components.publish import export, gif
from components.publish.plain import common, inside, modules, player
from components.publish.site import values
from components.scenes.model.build import SHIPPED
from components.training.recipes import state_of
from tests.threads import in_thread

ROOT = Path(__file__).parents[3]


def run(*arguments):
    return subprocess.run([sys.executable, "app.py", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture
def refused(capsys):
    """A function that runs a command, asserts exit code 2 and a one-line message, and returns the message."""

    def command(*arguments):
        with pytest.raises(SystemExit) as left:
            app.main(list(arguments))
        said = capsys.readouterr()
        assert left.value.code == 2 and not said.out and len(said.err.strip().splitlines()) == 1
        return said.err

    return command


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nothing", "--out", "a.html"], "nothing"),
        (["layernorm"], "--out"),
        (["layernorm", "--out", "a.doc"], "a.doc"),
        (["layernorm", "--out", "a.html", "--set", "gamma1=99"], "gamma1=99"),
        (["layernorm", "--out", "a.html", "--set", "gamma1"], "gamma1"),
        (["layernorm", "--out", "a.html", "--set", "colour=red"], "colour"),
        (["layernorm", "--out", "a.html", "--progress", "9"], "progress=9"),
        (["layernorm", "--out", "a.html", "--theme", "blue"], "blue"),
        (["layernorm", "--out", "a.gif", "--turn", "gamma1=1:99"], "gamma1=99"),
        (["layernorm", "--out", "a.gif", "--turn", "gamma9=1:2"], "gamma9"),
        (["layernorm", "--out", "a.gif", "--turn", "gamma1=1"], "gamma1=1"),
        (["layernorm", "--out", "a.gif", "--fps", "0"], "0"),
        (["fold", "--out", "a.svg", "--set", "tt=1"], "no 'tt'; there are only "),
        (["layernorm", "--out", "a.html", "--turn", "gamma1=1:2"], "only a video"),
        (["layernorm", "--out", "a.html", "--set", "eps=1", "--set", "eps=2"], "eps is set twice"),
        (["http://[::1/fold", "--out", "a.html"], "http://[::1/fold is no address"),
        (["layernorm?progress=1", "--out", "a.html", "--progress", "2"], "progress is set twice"),
        (["layernorm", "--out", "a.gif", "--fps", "51"], "fps=51"),
        (["layernorm", "--out", "a.png", "--width", "1e9"], "1e9"),
        (["layernorm", "--out", "a.png", "--scale", "nan"], "nan"),
        (["layernorm", "--out", "a.html", "--width", "300"], "width=300: a.html has no width to set"),
        (["layernorm", "--out", "a.svg", "--scale", "2"], "scale=2.0: a.svg has no scale to set"),
        (["layernorm", "--out", "a.png", "--seconds", "2"], "seconds=2.0: a.png has no seconds to set"),
        (["layernorm", "--out", "a.svg", "--assets", "shared"], "only .html files can share a folder"),
        (["layernorm", "--out", "/nowhere/a.html"], "/nowhere"),
        (["layernorm", "--out", "a.html", "--choice", "gamma1"], "gamma1"),
        (["layernorm", "--out", "a.html", "--choice", "vectors"], "vectors"),
        (["layernorm", "--out", "a.html", "--choice", "points", "seed", "d", "convention"], "180"),
        (["layernorm", "--out", "a.png", "--choice", "d"], "a.png"),
    ],
)
def test_what_is_wrong_is_one_line_and_no_file(refused, monkeypatch, tmp_path, arguments, named):
    monkeypatch.chdir(tmp_path)
    assert named in refused("export", *arguments)
    assert not list(tmp_path.iterdir())


def test_the_address_of_a_page_is_exported_as_its_state(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    state = "points=own&vectors=5+8+2%3B+1+0+1&progress=2&camera=1%2C2%2C1"
    app.main(["export", f"http://localhost:8050/normscape/layernorm?{state}", "--out", "a.svg"])
    pairs = ["points=own", "vectors=5 8 2; 1 0 1", "progress=2", "camera=1,2,1"]
    app.main(["export", "layernorm", "--set", *pairs, "--out", "b.svg"])
    assert Path("a.svg").read_text("utf-8") == Path("b.svg").read_text("utf-8")


def test_the_story_does_not_replace_the_explorer(refused, tmp_path):
    for name in ("theme.css", "story/index.html", "index.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert refused("story", str(tmp_path)).endswith(": name another folder\n")
    assert not (tmp_path / "index.html").read_text()


def test_a_site_cannot_stand_where_a_file_is(refused, tmp_path):
    (tmp_path / "taken").write_text("")
    assert "taken" in refused("site", str(tmp_path / "taken"))


def test_without_the_group_it_says_what_to_install(refused, monkeypatch, tmp_path):
    monkeypatch.setattr(export, "NEEDED", ("json", "no_such_package"))
    assert "pip install" in refused("export", "layernorm", "--out", str(tmp_path / "a.png"))


def test_a_page_has_everything_inside(tmp_path):
    out = tmp_path / "a.html"
    got = run("export", "layernorm", "--out", str(out), "--set", "gamma1=1.5", "d=2", "--progress", "1.5")
    assert (got.returncode, got.stderr) == (0, "")
    page = out.read_text("utf-8")
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", markup)
    recipes = json.loads(re.search(r'class="recipes">(.*?)</script>', page, re.S).group(1))
    assert list(recipes) == ["d=2"] and recipes["d=2"]["chosen"]["d"] == "2"
    assert 'data-query="?d=2&amp;gamma1=1.5&amp;progress=1.5"' in page


def test_a_page_may_have_choices_inside(tmp_path):
    """An exported page has a recipe for each combination of values of the choices that `--choice` names.

    The values include the one that `--set` gives to such a choice, here the seed 77.
    """
    out, scene = tmp_path / "a.html", scenes()["layernorm"]
    app.main(["export", "layernorm", "--out", str(out), "--set", "n=60", "seed=77", "--choice", "d", "seed"])
    recipes = json.loads(re.search(r'class="recipes">(.*?)</script>', out.read_text("utf-8"), re.S).group(1))
    dimensions, seeds = [c for c in scene.choices if c.name in ("d", "seed")]
    assert len(recipes) == len(dimensions.options) * (len(values(seeds)) + 1)
    for query, recipe in recipes.items():
        assert key(scene, recipe["chosen"]) == query and recipe["chosen"]["n"] == 60
        told = {each["name"]: each["options"] for each in recipe["choices"]}
        assert set(told) == {"d", "seed"} and told["d"] == dimensions.options and "77" in told["seed"]
    there = {(str(r["chosen"]["d"]), str(r["chosen"]["seed"])) for r in recipes.values()}
    assert there == set(itertools.product(told["d"], told["seed"]))


def test_an_exported_page_holds_the_recorded_models(tmp_path):
    out = tmp_path / "a.html"
    app.main(["export", "model", "--out", str(out), "--choice", "recording"])
    recipes = json.loads(re.search(r'class="recipes">(.*?)</script>', out.read_text("utf-8"), re.S).group(1))
    assert [recipe["chosen"]["recording"] for recipe in recipes.values()] == list(SHIPPED)
    assert all(len(recipe["overviews"][0]["rows"]) >= 9 for recipe in recipes.values())


def test_a_missing_folder_is_named_without_an_error_number(tmp_path, refused):
    out = tmp_path / "nowhere" / "a.html"
    told = refused("export", "fold", "--out", str(out), "--assets", str(tmp_path / "shared"))
    assert not list(tmp_path.iterdir())  # the folder for shared files is not made either
    assert told.endswith(f": {out}: there is no folder {out.parent}\n")


def test_a_page_has_the_controls_that_its_link_names(tmp_path):
    out = tmp_path / "a.html"
    app.main(["export", "fold", "--out", str(out), "--set", "controls=progress"])
    page = out.read_text("utf-8")
    assert 'data-controls="progress"' in page and '<div class="parameters">' not in page
    with pytest.raises(SystemExit):
        app.main(["export", "fold", "--out", str(out), "--set", "tour=1"])


def test_many_pages_share_one_copy(tmp_path):
    for slug in ("fold", "stretch"):
        app.main(
            ["export", slug, "--out", str(tmp_path / f"{slug}.html"), "--assets", str(tmp_path / "shared")]
        )
        page = (tmp_path / f"{slug}.html").read_text("utf-8")
        assert len(page) < 300_000
        linked = set(re.findall(r'(?:src|href|data-plotly)="(shared/[^"]+)"', page))
        assert linked == {f"shared/{name}" for name in common()}
    assert {path.name for path in (tmp_path / "shared").iterdir()} == set(common())


def test_a_vector_picture(tmp_path):
    app.main(["export", "norms", "--out", str(tmp_path / "a.svg"), "--theme", "dark"])
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")


def test_the_player_is_all_modules_and_no_link():
    assert {"page/embed", "page/attend"} < set(modules("page/embed"))
    types = r"[\w./]+\.d\.ts"  # addresses of types, in comments, do not count
    assert not re.search(rf'(from|import)\s*\(?\\?"(?!{types})\.\.?/', player())


@given(st.text(alphabet="<>/!-scriptSCRIPT ", max_size=60))
def test_nothing_inside_ends_the_element(text):
    packed = inside(json.dumps(text))
    assert "</script" not in packed.lower() and "<!--" not in packed
    assert json.loads(packed) == text


@given(st.text(max_size=30))
def test_choices_are_written_as_the_browser_writes_them(node, text):
    scene = scenes()["layernorm"]
    text = text.encode("utf-8", "ignore").decode()
    chosen = {c.name: c.default for c in scene.choices} | {"vectors": text}
    asked = {"vectors": text} if text != scene.choices[3].default else {}
    assert key(scene, chosen) == node.ask("query", pairs=asked)


# --- films


@pytest.mark.parametrize("last", [0, 1, 3, 5])
def test_a_run_goes_through_every_stage_and_never_back(last):
    times = [k / 200 for k in range(201)]
    at = [export.run(t, last) for t in times]
    assert at[0] == 0 and at[-1] == last and all(a <= b for a, b in itertools.pairwise(at))
    for stage in range(1, last):
        assert sum(abs(x - stage) < 1e-9 for x in at) >= 3, "a pause"


def test_a_turn_runs_from_one_end_to_the_other():
    state = state_of(scenes()["layernorm"], {"progress": "2"})
    look = export.Look(seconds=1, fps=5, turn=("gamma1", -1.0, 1.0))
    film = export.frames(state, look)
    assert [moved["gamma1"] for moved, _ in film] == pytest.approx([-1, -0.5, 0, 0.5, 1])
    assert {progress for _, progress in film} == {2}


async def colours(count):
    """Yield PNG pictures of different colours; their width and height are odd numbers."""
    for k in range(count):
        file = io.BytesIO()
        Image.new("RGB", (33, 31), (5 * k, 0, 255 - 5 * k)).save(file, "png")
        yield file.getvalue()


@pytest.mark.parametrize("fps", [1, 20, 30, 45, 50])
def test_a_gif_keeps_its_speed(tmp_path, fps):
    in_thread(asyncio.run, gif.write(tmp_path / "a.gif", colours(18), export.Look(fps=fps)))
    with Image.open(tmp_path / "a.gif") as film:
        times = [(film.seek(k), film.info["duration"])[1] for k in range(film.n_frames)]
    assert len(times) == 18 and min(times) >= 20, "browsers slow down what is faster"
    assert sum(times) == pytest.approx(18 * 1000 / fps, abs=5)


async def noise(count):
    """Yield PNG pictures that hardly compress: 17 kB each in a GIF."""
    random = np.random.default_rng(0)
    for _ in range(count):
        file = io.BytesIO()
        Image.fromarray(random.integers(0, 256, (100, 125), np.uint8)).save(file, "png")
        yield file.getvalue()


@pytest.mark.parametrize(
    ("limit", "fixed", "size", "frames", "said"),
    [
        (150_000, [], (100, 80), 12, "made smaller"),
        (30_000, [], (75, 60), 4, "5 frames a second"),
        (120_000, ["height"], (125, 100), 6, "7.5 frames a second"),
        (100_000, ["fps"], (75, 60), 12, "15 frames a second"),
        (30_000, ["scale", "fps"], (125, 100), 12, "fewer --seconds"),
    ],
)
def test_a_gif_is_made_smaller_until_it_fits(tmp_path, monkeypatch, capsys, limit, fixed, size, frames, said):
    monkeypatch.setattr(gif, "MAX_BYTES", limit)
    out = tmp_path / "a.gif"
    in_thread(asyncio.run, gif.write(out, noise(12), replace(gif.LOOK, set_by_caller=frozenset(fixed))))
    with Image.open(out) as film:
        assert (film.size, film.n_frames) == (size, frames)
    assert said in capsys.readouterr().err
    assert (out.stat().st_size <= limit) == (said != "fewer --seconds")


def test_what_is_asked_for_is_fixed(monkeypatch):
    looks = []
    monkeypatch.setattr(export, "export", lambda slug, out, values, look, **more: looks.append(look))
    app.main(["export", "fold", "--out", "a.gif"])
    app.main(["export", "fold", "--out", "a.gif", "--fps", "20", "--scale", "2"])
    app.main(["export", "fold", "--out", "a.mp4"])
    asked = replace(gif.LOOK, fps=20, scale=2.0, set_by_caller=frozenset({"fps", "scale"}))
    assert looks == [gif.LOOK, asked, export.Look()]


def test_a_film_holds_one_picture_at_a_time(tmp_path, monkeypatch):
    opened, images, held = export._opened, [], []

    def watched(png):
        image = opened(png)
        images.append(weakref.ref(image))
        held.append(sum(ref() is not None for ref in images))
        return image

    monkeypatch.setattr(export, "_opened", watched)
    in_thread(asyncio.run, export._mp4(tmp_path / "a.mp4", colours(12), export.Look(fps=6)))
    assert imageio_ffmpeg.count_frames_and_secs(tmp_path / "a.mp4") == (12, pytest.approx(2))
    assert len(held) == 12 and max(held) <= 2, "the first, whose size is that of all, and the present one"
