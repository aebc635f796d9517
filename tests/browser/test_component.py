"""Scenes in other people's Dash applications, such as docs/dash_app.py."""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from dash import Dash, Input, Output, html
from werkzeug.serving import make_server

from normscape import Scene
from tests.browser.conftest import ROOT
from tests.browser.hand import TIMEOUT_MS, drag, frames, middle
from tests.waiting import PATIENCE, answers, until
from tools.ports import free

# Styles that a page may apply to all its elements, and a Content-Security-Policy that Dash's own pages
# tolerate.
THEIRS = """* { letter-spacing: 3px; font-family: serif } html { font-size: 10px; color-scheme: dark }
.figure, .stage, .view { display: none } input { width: 1px; height: 1px } div { text-align: right }
:root { --accent: red; --paper: red; --input: red }"""
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:"
ONLINE = "void dispatchEvent(new Event('online'))"  # then what waits for the network goes on at once
TURNS = {
    "set": (Output("one", "params", allow_duplicate=True), {"t": 2}),
    "wrong": (Output("one", "params", allow_duplicate=True), {"t": 99}),
    "unknown": (Output("one", "params", allow_duplicate=True), {"s": 1}),
    "again": (Output("one", "params", allow_duplicate=True), {"t": 1}),
    "list": (Output("one", "params", allow_duplicate=True), [1, 2]),
    "none": (Output("one", "params", allow_duplicate=True), None),
    "text": (Output("one", "controls", allow_duplicate=True), "t"),
    "names": (Output("one", "controls", allow_duplicate=True), ["t"]),
    "pink": (Output("one", "theme", allow_duplicate=True), "pink"),
    "dark": (Output("one", "theme", allow_duplicate=True), "dark"),
    "choose": (Output("one", "choices"), {"n": "24"}),
    "both": (
        [Output("one", name, allow_duplicate=True) for name in ("controls", "params")],
        [["t"], {"eps": 0.5}],
    ),
    "many": (
        [Output("one", name, allow_duplicate=True) for name in ("choices", "params")],
        [{"n": "24"}, {"eps": 0.5}],
    ),
    "more": (Output("one", "choices", allow_duplicate=True), {"n": "600"}),
    "seek": (Output("one", "progress", allow_duplicate=True), 1),
    "other": (Output("one", "slug"), "temperature"),
    "take": (Output("room", "children", allow_duplicate=True), []),
    "put": (Output("room", "children", allow_duplicate=True), [Scene("stretch", id="one", progress=0)]),
}


@pytest.fixture
def documented(request):
    """Run docs/dash_app.py, or the file that the test names, unchanged; yields its address."""
    port, file = str(free()), getattr(request, "param", "dash_app.py")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PORT": port}
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, ROOT / "docs" / file], env=environment, **nowhere)
    address = f"http://127.0.0.1:{port}/"
    try:
        until(lambda: answers(address))
        yield address
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


@contextmanager
def served(app):
    port = free()
    server = make_server("127.0.0.1", port, app.server, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def strange(heard):
    """Make a Dash application at the path /lab/, with its own styles and Content-Security-Policy.

    It shows two scenes, and one button for each entry of TURNS. A press of a button sets the properties
    that its entry names. heard: a list. Each time that the scene with the id "one" sends its properties, a
    callback appends them to this list as a dictionary.
    """
    app = Dash(__name__, requests_pathname_prefix="/lab/", routes_pathname_prefix="/lab/", update_title=None)
    app.index_string = app.index_string.replace("{%css%}", f"{{%css%}}<style>{THEIRS}</style>")
    scenes = html.Div([Scene("stretch", id="one"), Scene("stretch", theme="light")], id="room")
    app.layout = html.Div([*(html.Button(name, id=name) for name in TURNS), scenes, html.P(id="words")])
    names = ("slug", "choices", "params", "progress", "follow")

    @app.callback(Output("words", "children"), [Input("one", name) for name in names])
    def hear(*state):
        heard.append(dict(zip(names, state, strict=True)))

    for name, (output, value) in TURNS.items():
        app.callback(output, Input(name, "n_clicks"), prevent_initial_call=True)(lambda _, value=value: value)
    scripts = " ".join(app.csp_hashes())
    policy = {"Content-Security-Policy": f"{POLICY}; script-src 'self' {scripts}"}
    app.server.after_request(lambda answer: answer.headers.update(policy) or answer)
    return app


def test_the_application_of_the_docs_is_moved_by_its_slider_and_told_what_the_hand_moves(
    documented, new_page
):
    page = new_page(known=documented)
    page.goto(documented)
    page.locator("#scene .play").wait_for(timeout=TIMEOUT_MS)
    words = page.locator("#words")
    until(lambda: words.inner_text() == "progress 0, ε 0.01")
    page.locator("#slider").get_by_role("slider").press("End")
    until(lambda: words.inner_text() == "progress 5, ε 0.01")
    until(lambda: page.locator("#scene input.progress").input_value() == "5")
    page.locator("#scene #parameter-eps").scroll_into_view_if_needed()
    drag(page, middle(page, "#scene #parameter-eps"), (2000, 0))
    until(lambda: words.inner_text() == "progress 5, ε 10")
    assert page.locator("#scene input[type=range][id^=parameter-]").count() == 1


@pytest.mark.parametrize("documented", ["dash_link.py"], indirect=True)
def test_the_linked_sliders_of_the_docs_have_the_same_value_whichever_is_moved(documented, new_page):
    page = new_page(known=documented)
    # wait until Dash has handled the figure's first report, which would set the other slider to 1 again
    with page.expect_response("**/_dash-update-component*", timeout=TIMEOUT_MS) as first:
        page.goto(documented)
    first.value.finished()
    frames(page)
    theirs, own = page.locator("#slider").get_by_role("slider"), page.locator("#scene #parameter-gamma1")
    values = lambda: (float(theirs.get_attribute("aria-valuenow")), float(own.input_value()))  # noqa: E731
    theirs.press("Home")
    until(lambda: values() == (0, 0))
    own.scroll_into_view_if_needed()
    drag(page, middle(page, "#scene #parameter-gamma1"), (2000, 0))
    until(lambda: values() == (2, 2))
    page.wait_for_timeout(1000)
    assert values() == (2, 2), "it comes to rest"


def test_a_scene_in_a_strange_page_is_set_and_heard_and_goes_and_comes(new_page):
    heard = []
    with served(strange(heard)) as base:
        page = new_page(known=base)
        page.goto(f"{base}/lab/")
        one, two = page.locator("#one"), page.locator("#room > :nth-child(2)")
        for scene in (one, two):
            canvas = scene.locator(".handle").or_(scene.locator("canvas.motion")).first
            canvas.wait_for(state="attached", timeout=TIMEOUT_MS)
        until(lambda: heard[-1]["follow"] is not None)
        assert heard[-1]["params"] == {"t": 3, "eps": 0} and heard[-1]["choices"] == {"n": "120"}
        look(one, two)

        def turn(name):
            del heard[:]
            page.click(f"#{name}")

        turn("set")
        until(lambda: slider(one) == 2 and heard and heard[-1]["params"] == {"t": 2})
        assert slider(two) == 3, "they share no names"
        turn("wrong")
        one.locator(".refused").wait_for()
        until(lambda: heard and heard[-1]["params"] == {"t": 99})
        assert one.locator(".refused").inner_text() == "Scene stretch: t=99 is not a number from -5 to 5"
        assert not one.locator(".stage").is_visible()
        turn("again")
        until(lambda: slider(one) == 1 and one.locator(".stage").is_visible())
        until(lambda: heard and heard[-1]["params"] == {"t": 1})
        turn("choose")
        until(lambda: one.locator("#choice-n").input_value() == "24" and heard)
        page.wait_for_timeout(300)  # longer than REPORT_INTERVAL_MS in assets/guest/figure.mjs
        assert [each["choices"] for each in heard] == [{"n": "24"}], "what a callback sets is not sent back"
        turn("other")
        until(lambda: heard and heard[-1]["params"] == {"shrink": 0.3, "shift": 1, "eps": 0})
        turn("unknown")
        one.locator(".refused", has_text="Scene temperature: this scene has no parameter s").wait_for()
        until(lambda: heard and heard[-1]["params"] == {"s": 1})
        turn("take")
        until(lambda: page.locator("#one").count() == 0)
        turn("put")
        until(lambda: heard and heard[-1]["params"] == {"t": 3, "eps": 0})
        assert heard[-1]["progress"] == 0
        turn("set")
        until(lambda: slider(one) == 2)
        turn("both")
        until(lambda: heard and heard[-1]["params"] == {"t": 2, "eps": 0.5})
        assert slider(one) == 2, "other controls leave the sliders where they are"
        assert page.evaluate("typeof Plotly") == "undefined", "the page's own graphs load their own"


@pytest.mark.allow_errors("ERR_FAILED|Failed to load resource")
def test_a_request_without_an_answer_is_carried_out_later_as_a_whole_and_holds_up_no_later_one(new_page):
    heard = []
    with served(strange(heard)) as base:
        page = new_page(known=base)
        one = unanswered(page, base, heard)
        page.click("#seek")
        until(lambda: one.locator("input.progress").input_value() == "1")
        assert chosen(one) == ("120", "0"), "these wait for the server"
        page.unroute("**/recipe/**")
        page.evaluate(ONLINE)
        until(lambda: chosen(one) == ("24", "0.5"))
        one.locator("#parameter-t").press("Home")
        until(lambda: heard[-1]["params"] == {"t": -5, "eps": 0.5})
        assert heard[-1]["progress"] == 1


@pytest.mark.allow_errors("ERR_FAILED|Failed to load resource")
def test_a_request_without_an_answer_is_replaced_by_other_choices_but_not_aborted_by_a_slider(new_page):
    heard, held = [], []
    with served(strange(heard)) as base:
        page = new_page(known=base)
        one = unanswered(page, base, heard)
        page.unroute("**/recipe/**")
        page.route("**/recipe/**", lambda route: held.append(route))
        page.evaluate(ONLINE)
        until(lambda: page.wait_for_timeout(10) or held)
        page.click("#seek")
        until(lambda: one.locator("input.progress").input_value() == "1")
        assert len(held) == 1
        page.click("#more")
        until(lambda: page.wait_for_timeout(10) or len(held) == 2)
        page.unroute("**/recipe/**")
        until(lambda: chosen(one) == ("600", "0.5"))


def unanswered(page, base, heard):
    """Choose values in a Dash application while no request for a recipe is answered; returns the figure.

    Presses the button "many" of the application `strange`, and waits until the page says that it keeps
    asking. base: the URL of the server. heard: the list that was given to `strange`.
    """
    page.goto(f"{base}/lab/")
    one = page.locator("#one")
    one.locator("#parameter-t").wait_for(timeout=TIMEOUT_MS)
    until(lambda: heard and heard[-1]["params"] is not None)
    page.route("**/recipe/**", lambda route: route.abort())
    page.click("#many")
    one.locator(".notice", has_text="This page keeps asking").wait_for(timeout=TIMEOUT_MS)
    return one


def chosen(scene):
    """The number of points, and ε, that the controls of the scene `stretch` show."""
    controls = ("#choice-n", "[aria-label='ε, value']")
    return tuple(scene.locator(each).input_value() for each in controls)


@pytest.mark.allow_errors("status of 500")
def test_a_failure_of_the_server_is_not_taken_for_missing_routes(new_page):
    with served(strange([])) as base:
        page = new_page(known=base)
        page.route("**/_normscape/figure/**", lambda route: route.fulfill(status=500, body="<h1>500</h1>"))
        page.goto(f"{base}/lab/")
        words = "Scene stretch: The server has an error (status 500). Reload the page to try again."
        page.locator("#one .refused", has_text=words).wait_for(timeout=TIMEOUT_MS)
        page.close()  # while the server still answers what the page is loading


def test_what_a_callback_sets_wrongly_is_named_until_it_is_corrected(new_page):
    with served(strange([])) as base:
        page = new_page(known=base)
        page.goto(f"{base}/lab/")
        one = page.locator("#one")
        one.locator("#parameter-t").wait_for(timeout=TIMEOUT_MS)
        for wrong, right, words in (
            ("list", "none", "params=[1,2] is not a dict by name"),
            ("text", "names", "controls='t' is not a list"),
            ("pink", "dark", "theme='pink' is not a theme; there are only auto, light, dark"),
        ):
            page.click(f"#{wrong}")
            one.locator(".refused", has_text=f"Scene stretch: {words}").wait_for()
            page.click(f"#{right}")
            one.locator(".refused").wait_for(state="detached")
            one.locator(".stage").wait_for()
        assert slider(one) == 3


def test_keys_in_the_list_of_keys_do_not_act_on_the_figure_behind_it(new_page):
    with served(strange([])) as base:
        page = new_page(known=base)
        page.goto(f"{base}/lab/")
        one = page.locator("#one")
        one.locator("#parameter-t").press("Home", timeout=TIMEOUT_MS)
        page.keyboard.press("?")
        one.get_by_role("dialog").wait_for()
        one.get_by_role("button", name="Close").press("r")
        frames(page, 5)  # a key acts in the next frames
        assert slider(one) == -5
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        until(lambda: slider(one) == 3)
        page.close()  # while the server still answers what the figure reports


def test_scenes_that_are_removed_while_plotly_loads_request_no_recipes(new_page):
    with served(strange([])) as base:
        page, held, recipes = new_page(known=base), [], []
        page.route("**/lib/plotly-*.js", lambda route: held.append(route))
        page.on("request", lambda request: recipes.append(request.url) if "/recipe/" in request.url else None)
        with page.expect_request("**/lib/plotly-*.js"):
            page.goto(f"{base}/lab/")
        page.click("#take")
        page.locator("#one").wait_for(state="detached")
        with page.expect_request_finished(lambda request: "/lib/plotly-" in request.url):
            held[0].continue_()
        page.wait_for_timeout(500)
        assert recipes == [] and page.evaluate("normscape.players") in (None, [])


def slider(scene):
    return float(scene.locator("#parameter-t").input_value())


def look(one, two):
    """Check that the page's styles do not apply inside two scenes.

    The page has styles for all elements, and a CSS variable `--paper` of its own. one: a scene with the theme
    "auto", which must be dark, like the page. two: a scene with the theme "light", which must be light.
    """
    stage = one.locator(".stage")
    assert stage.is_visible() and stage.evaluate("e => getComputedStyle(e).letterSpacing") == "normal"
    assert one.locator("#parameter-t").bounding_box()["width"] > 100
    papers = [
        each.locator(".page").evaluate("e => getComputedStyle(e).backgroundColor") for each in (one, two)
    ]
    assert papers == ["rgb(20, 22, 27)", "rgb(252, 252, 250)"]
