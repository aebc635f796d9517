"""Actions of a reader on a page, and measurements of what is visible."""

import io
import json
from contextlib import contextmanager

import numpy as np
from PIL import Image
from playwright.sync_api import expect

from components.training import recipes

TIMEOUT_MS = 300_000  # generous, for a busy machine; a passing test never takes nearly as long
HASTE = 10  # factor by which motion is sped up
POLL_MS = 40  # between two checks of a page; a check in each frame would slow it down
SMALL_3D = "n=60"  # query of a scene with few points, quick to draw
SMALL_2D = f"d=2&{SMALL_3D}"  # for tests that need no 3D view, since drawing one takes half of the time


# Put a new player, which reads the link, into a kept page that shows the scene of this link. If the page does
# not, change nothing and return false.
AGAIN = """async (link) => {
  const [player] = (window.kept && window.normscape?.players) || [];
  if (!player?.ready || player.apart || new URL(link, location).pathname !== location.pathname) return false;
  const { root } = player, { parentNode: page, nextSibling: next } = root;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close(); // else it has the focus
  document.body.tabIndex = -1;
  document.body.focus(); // the next key Tab begins at the top
  document.body.removeAttribute("tabindex");
  scrollTo(0, 0);
  root.remove();
  for (const card of root.querySelectorAll(".guide")) card.remove(); // of the old one
  await 0; // the old one goes
  history.replaceState(history.state, "", link);
  page.insertBefore(root, next);
  await 0;
  return true;
}"""


def visit(page, link):
    """Open a scene at the address `link`, and wait until its player shows it.

    A page of the fixture `kept` that already shows the same scene only gets a new player. In any other page,
    the link is loaded.
    """
    if not page.evaluate(AGAIN, link):
        page.goto(link)
    until(page, "p.ready")


def until(page, condition):
    """Wait until a JavaScript condition on the player `p` of a scene's page holds."""
    scene = "const p = window.normscape?.players?.[0]; if (!p || p.root.dataset.hero) return false"
    page.wait_for_function(f"() => {{ {scene}; return ({condition}); }}", timeout=TIMEOUT_MS, polling=POLL_MS)


def player(page, code, value=None):
    """The value of the JavaScript expression `code`, in which `p` is the page's player.

    value: an argument, which the expression can use under this name. If the value of the expression is a
    promise, it is awaited.
    """
    return page.evaluate(f"async (value) => {{ const p = normscape.players[0]; return {code}; }}", value)


def rest(page, condition="true"):
    """Wait until the figure is at rest, that is, nothing is loading or moving, and `condition` holds.

    condition: a JavaScript expression, in which `p` is the player. During the wait, all motion is faster by
    the factor HASTE.
    """
    until(page, "p.ready")
    speed = player(page, f"[p.speed, p.speed = {HASTE}][0]")
    until(
        page,
        "p.ready && !p.wanted && !p.leg && !p.flight && !p.scheduled && !p.root.querySelector('.moving')"
        f" && ({condition})",
    )
    player(page, "p.speed = value", speed)


def frames(page, count=2):
    """Wait for `count` animation frames."""
    page.evaluate(
        "async (n) => { for (let i = 0; i < n; i++) await new Promise(requestAnimationFrame); }", count
    )


def hold(page):
    """Keep the figure pressed, as if a reader held it, so that it does not settle.

    It stays as the painter draws it in motion, and can be examined. `player(page, "p.pointerDown = false")`
    releases it.
    """
    player(page, "p.pointerDown = true")


def move(page, state, progress):
    """Set parameters (a dictionary) and the progress, and wait until this is drawn.

    The figure is kept pressed, so that it stays as the painter draws it in motion (see `hold`).
    """
    hold(page)
    player(page, "Object.entries(value).forEach(([name, x]) => p.set(name, x))", state)
    player(page, "p.seek(value)", progress)
    until(page, "!p.scheduled")
    frames(page)


def strange(page):
    """Go to the glossary, and clear the list of visited scenes, so that the next scene is a first visit."""
    page.goto("/words")
    page.evaluate("localStorage.visited = ''")


@contextmanager
def fetching(page, code):
    """While the block runs, replace the page's `fetch` by the JavaScript function `code`.

    The function can call the original `fetch` as `own`.
    """
    page.evaluate(f"window.own = fetch; void (window.fetch = {code})")
    yield
    page.evaluate("void (window.fetch = own)")


def middle(page, selector):
    """The centre (x, y), in pixels of the window, of the first element that matches a CSS selector."""
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, start, by, steps=8, release=True):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0], start[1] + by[1], steps=steps)
    if release:
        page.mouse.up()


def drag_slider(page, name, by, steps=20):
    """Drag the thumb of a parameter's slider by `by` pixels to the right, in `steps` moves of the pointer."""
    selector = f"#parameter-{name}"
    page.locator(selector).scroll_into_view_if_needed()
    box = page.locator(selector).bounding_box()
    at = page.eval_on_selector(selector, "(r) => (r.valueAsNumber - r.min) / (r.max - r.min)")
    thumb = 16  # px, its width in Chromium
    x = box["x"] + thumb / 2 + at * (box["width"] - thumb)
    drag(page, (x, box["y"] + box["height"] / 2), (by, 0), steps)


def camera(page):
    """The position (`eye`) of the camera of the first view, (3,), in Plotly's units."""
    return np.array(player(page, "p.panels[0].camera().eye"))


STATE = """JSON.stringify([Object.entries(p.choices).map(([name, value]) => [name, String(value)]).sort(),
  Object.entries(p.params).sort(), p.progress, p.followed, p.camera && p.camera.eye])"""


def whole_state(scene, stop):
    """The state of the figure at a stop of the tour, as JSON text.

    Values that the stop does not name are the scene's defaults. The text equals the value of the JavaScript
    expression STATE if the page's player is in this state. stop: an element of `scene.text.tour`.
    """
    state = recipes.state_of(scene, stop.state)
    choices = sorted([name, str(value)] for name, value in state.choices.items())
    eye = state.camera and list(state.camera[:3])
    parts = [choices, sorted(map(list, state.params.items())), state.progress, state.follow, eye]
    return json.dumps(whole(parts), separators=(",", ":"), ensure_ascii=False)


def whole(value):
    """Replace floats without a fraction by integers, because JavaScript writes 2.0 as 2.

    value: a value for JSON. If it is a list, its elements are replaced, also those of inner lists.
    """
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value == int(value) else value


def walk(page, link, scene):
    """Take a scene's tour to its end, and answer all its questions correctly.

    At each stop, wait until the figure is at rest in the state of the stop. In the end there must be no error
    message. link: where the tour is started.
    """
    visit(page, link)
    page.get_by_role("link", name="Take the tour").click()
    stops = scene.text.tour
    for k, stop in enumerate(stops, 1):
        until(page, f"p.ready && p.root.querySelector('.guide .count').textContent === '{k} of {len(stops)}'")
        if stop.question:
            page.locator(".guide .question button").nth(stop.right).click()
        rest(page, f"({STATE}) === {json.dumps(whole_state(scene, stop))}")
        page.locator(".guide .on").click()
    expect(page.locator(".guide")).to_be_hidden()
    expect(page.locator(".notice")).to_be_hidden()


def strays(page):
    """The texts of the cards on the home page that do not show their picture as they should.

    Each card should show exactly one picture, inside the card, and over 50 pixels wide and high.
    """
    page.wait_for_selector(".card", timeout=TIMEOUT_MS)
    return page.evaluate(
        """[...document.querySelectorAll(".card")].filter((card) => {
          const shown = [...card.querySelectorAll("img")].filter((img) => img.getClientRects().length);
          const [a, b] = [card, shown[0]].map((element) => element?.getBoundingClientRect());
          const inside = b?.left >= a.left && b.right <= a.right && b.top >= a.top && b.bottom <= a.bottom;
          return !(shown.length === 1 && inside && b.width > 50 && b.height > 50);
        }).map((card) => card.textContent)"""
    )


def pixels(png, width=0):
    """The pixels of a PNG on a white background: (height, width, 3), from 0 to 255.

    width: the width in pixels to which the picture is scaled; 0 keeps its size.
    """
    image = Image.open(io.BytesIO(png)).convert("RGBA")
    image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    if width:
        image = image.resize((width, round(width * image.height / image.width)), Image.Resampling.BOX)
    return np.asarray(image, float)


@contextmanager
def painted(page):
    """Let the browser paint while the block runs, and not afterwards."""
    page.evaluate("window.unseen && (unseen.disabled = true)")
    yield
    page.evaluate("window.unseen && (unseen.disabled = false)")


@contextmanager
def pixels_drawn(page):
    """Let WebGL draw while the block runs, and not afterwards."""
    page.evaluate("window.blind = false")
    yield
    page.evaluate("window.blind = true")


def shot(page, what, style="", width=0):
    """Take a screenshot of an element, and return its pixels: (height, width, 3), from 0 to 255.

    what: the element, as Playwright's locator. style: CSS that is added for the screenshot. width: the width
    in pixels to which the picture is scaled; 0 keeps its size.
    """
    with painted(page):
        return pixels(what.screenshot(style=style), width)


def look(page, width=0):
    """Hide the legends of a figure, and take a screenshot: pixels (height, width, 3), from 0 to 255.

    Only for tests marked `pixels`, because WebGL draws only in these. width: the width in pixels to which the
    picture is scaled; 0 keeps its size.
    """
    assert not page.evaluate("window.blind"), "mark the test `pixels`"
    frames(page)
    return planes(page, width)


def planes(page, width=0):
    """Hide the legends of a 2D figure, and take a screenshot: pixels (height, width, 3), from 0 to 255.

    Any test can use it. For 3D figures, which need WebGL, see `look`. width: the width in pixels to which the
    picture is scaled; 0 keeps its size.
    """
    return shot(page, page.locator(".views"), ".legend { visibility: hidden }", width)


def difference(a, b):
    """The mean absolute difference of two pictures, from 0 to 255."""
    assert a.shape == b.shape
    return np.abs(a - b).mean()


def finger(page, points):
    """Put a finger down at the first of `points`, and move it along the others.

    points: places (x, y) in pixels of the window. Returns a function that lifts the finger.
    """
    touch = page.context.new_cdp_session(page)
    for k, (x, y) in enumerate(points):
        kind = "touchMove" if k else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    return lambda: touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def touches(page, place):
    """A function `put(kind, **fingers)` that sends a touch event to the page.

    kind: the event, such as "touchStart". fingers: all fingers on the screen, with the names `f0`, `f1` …;
    each value is a distance (x, y) in pixels from `place`. `put("touchStart", f0=(-40, 0))` puts one finger
    down, to the left of `place`.
    """
    touch = page.context.new_cdp_session(page)

    def put(kind, **fingers):
        points = [
            {"x": place[0] + dx, "y": place[1] + dy, "id": int(name[1])} for name, (dx, dy) in fingers.items()
        ]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    return put
