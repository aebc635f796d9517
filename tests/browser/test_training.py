"""Training on a scene's page, as a reader does it: small networks, few steps."""

import re
from functools import partial

import psutil
import pytest

from components.language.scene import scenes
from components.training import queue as trainings
from components.training import runs
from tests import waiting
from tests.browser.hand import TIMEOUT_MS, frames, middle, player, rest, until, visit

START = "/spiral?n=40&depth=1"
LONG, STEPS = "/spiral?n=400&depth=6", "20000"  # takes over a minute on two cores, so no test reaches its end


DRAWN = "p.recipe.clouds.map(({ name }) => [...p.drawn(name)])"
NARROW = {"viewport": {"width": 800, "height": 600}}  # few pixels to draw, for tests of messages


@pytest.fixture
def page(new_page):
    return new_page(**NARROW)


def unfold(page):
    page.locator(".training").evaluate("(e) => { e.open = true; }")


def order(page, **numbers):
    unfold(page)
    for name, value in numbers.items():
        page.fill(f"#train-{name}", str(value))
    page.click("#train")


def words(page, pattern):
    """Wait until the training's message matches a pattern, and return the message."""
    page.locator("#train-words", has_text=re.compile(pattern)).wait_for()
    return page.inner_text("#train-words")


def counted(page):
    """From now on, count the pictures of the training that the page's player `p` receives, in `p.shown`."""
    player(
        page,
        "(p.shown = 0, p.showTraining = ((show) => (film) => { p.shown += 1; show.call(p, film); })"
        "(p.showTraining))",
    )


def overheard(page):
    """From now on, collect the training's messages in `p.said`, because some messages vanish soon."""
    observed = "{ childList: true, characterData: true, subtree: true }"
    keep = "p.said.push(document.querySelector('#train-words')?.textContent)"
    training = "document.querySelector('.training')"
    player(page, f"(p.said = [], new MutationObserver(() => {keep}).observe({training}, {observed}), 0)")


def test_a_training_moves_the_picture_and_ends_as_a_link(new_page):
    """A training updates the picture, and its result has a link.

    The training is long, and is stopped after several pictures.
    """
    page = new_page(**NARROW)
    visit(page, START)
    before = player(page, DRAWN)
    counted(page)
    overheard(page)
    order(page, steps=STEPS, seeds=8)
    news = "/Step .* of 20,000: median loss .* of 8 solve it, about .+ s left/"
    until(page, f"p.said.some((words) => {news}.test(words))")
    until(page, "p.shown > 2")
    assert player(page, "p.params.step") > 0
    assert page.input_value("#choice-seed") == "0", "this training has no seed 8"
    assert player(page, DRAWN) != before
    page.click("#train-stop")
    told = words(page, r"of 8 solve it after [\d,]+ steps")
    last = int(re.search(r"after ([\d,]+) steps", told)[1].replace(",", ""))
    until(page, f"p.choices.run && p.ready && p.params.step === {last}")
    rest(page)
    page.wait_for_url(re.compile(r"run=[0-9a-f]{16}"), timeout=TIMEOUT_MS)
    assert "step" not in page.url
    other = new_page(**NARROW)
    visit(other, page.url)
    assert player(other, "p.recipe.clock") == "step" and player(other, "p.choices.depth") in ("1", 1)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download the run").click()
    player(other, "p.choose({ run: '' })")
    until(other, "p.ready && !p.choices.run")
    other.set_input_files(".training .files input", saved.value.path())
    until(other, f"p.ready && p.choices.run === {player(page, 'p.choices.run')!r}")
    assert page.request.get(link_with_network(page)).ok


def test_attention_trains_too_and_its_network_fits_into_a_link(page):
    """In the scene `majority`, attention can be trained, and a link can contain the trained network.

    Before the training, a number typed into the field selects a shipped seed.
    """
    visit(page, "/majority")
    assert page.get_attribute("#choice-seed", "max") == "9"
    page.fill("#choice-seed", "3")
    page.press("#choice-seed", "Tab")
    page.locator(".headline span", has_text="Mean angle to 𝟏, seed 3").wait_for(timeout=TIMEOUT_MS)
    order(page, steps=100, seeds=2)
    words(page, "of 2 solve it after 100 steps")
    until(page, "p.choices.run && p.ready && p.params.step === 100")
    visit(page, link_with_network(page))
    assert player(page, "p.choices.net") and not page.locator(".notice").is_visible()


def link_with_network(page):
    page.click("text=Link with the network")
    link = page.input_value(".share textarea[aria-label=Link]")
    assert "net=" in link and "run=" not in link and len(link) < 2000
    return link


def test_another_seed_is_followed_while_it_trains_and_kept(new_page):
    """Another seed can be chosen during training, by number or by a click; the finished run shows it.

    A seed that the training does not have is refused. While the reader presses on the curves, the displayed
    training step does not advance. The page requests no recipe for any of this.
    """
    page = new_page()
    visit(page, LONG)
    player(page, "p.go({ progress: '2' })")
    order(page, steps=STEPS, seeds=16)
    words(page, "Step [1-9]")
    until(page, "p.growing")
    counted(page)
    asked = []
    page.on("request", lambda request: "/recipe/" in request.url and asked.append(request.url))
    page.fill("#choice-seed", "2")
    page.press("#choice-seed", "Tab")
    page.locator(".headline span", has_text="Accuracy of seed 2").wait_for(timeout=TIMEOUT_MS)
    page.select_option("#choice-curve", "accuracy")
    until(page, "p.recipe.views[2].ranges[1][1] < 1.1 && p.recipe.readouts[0].label.endsWith('2')")
    player(
        page,
        "p.panels[2].callbacks.picked(p.recipe.views[2].layers.find((l) => l.hand?.kind === 'choose'), 0)",
    )
    page.locator(".headline span", has_text="Accuracy of seed 0").wait_for(timeout=TIMEOUT_MS)
    page.mouse.move(*middle(page, ".view:nth-child(3) .figure"))
    page.mouse.down()
    held = player(page, "p.params.step")
    for _ in range(2):
        page.wait_for_event("response", lambda answer: "/training/" in answer.url and answer.status == 200)
    frames(page)
    assert player(page, "p.params.step") == held, "what the hand points at moves away"
    page.mouse.up()
    until(page, f"p.params.step > {held}")
    player(page, "p.choose({ seed: '3' })")
    page.locator(".headline span", has_text="Accuracy of seed 3").wait_for(timeout=TIMEOUT_MS)
    assert page.input_value("#choice-seed") == "3" and player(page, "p.growing && p.shown > 3")
    page.fill("#choice-seed", "19")
    page.press("#choice-seed", "Tab")
    page.locator(".notice", has_text="this training has 16").wait_for(timeout=TIMEOUT_MS)
    assert page.input_value("#choice-seed") == "3", "the field shows the seed of the picture again"
    assert not asked, "the worker shows what the hand wants to see"
    page.click("#train-stop")
    said = words(page, r"of 16 solve it after")
    assert "Seed 3 is shown" in said and f"at most {runs.KEPT_DAYS} days" in said
    until(page, "p.choices.run && p.ready && p.choices.seed === '3' && p.choices.curve === 'accuracy'")


def test_a_choice_made_before_the_server_answers_is_no_part_of_the_training(page):
    """A training keeps the choices with which it was ordered, even if the reader then makes another choice.

    While the figure has the other choice, it shows no pictures of the training. The result of the training is
    shown with the choices of the order.
    """
    held = []
    visit(page, START)
    page.route(re.compile("/training$"), lambda route: held.append(route))
    counted(page)
    with page.expect_request(re.compile("/training$")):
        order(page, steps=STEPS, seeds=1)
    player(page, "p.choose({ depth: '2' })")
    until(page, "p.ready && String(p.choices.depth) === '2'")
    held[0].continue_()
    words(page, "Step [1-9]")
    assert player(page, "p.shown") == 0, "these pictures are of another depth"
    page.click("#train-stop")
    words(page, r"of 1 solve it after [\d,]+ steps")
    until(page, "p.ready && p.choices.run && String(p.choices.depth) === '1'")


@pytest.mark.allow_errors("400")
def test_what_is_wrong_is_told_at_its_place_and_nothing_runs(page, tmp_path):
    (tmp_path / "photo.npz").write_bytes(b"PK\x03\x04 nothing of ours")
    visit(page, START)
    unfold(page)
    with page.expect_response(
        lambda answer: answer.request.method == "POST" and "/run/" in answer.url
    ) as sent:
        page.set_input_files(".training .files input", tmp_path / "photo.npz")
    assert sent.value.status == 400
    page.locator(".training [role=alert]", has_text="This file cannot be opened").wait_for(timeout=TIMEOUT_MS)
    order(page, steps=99, lr=7, seeds=33)
    for text in ("from 100 to 20,000", "from 0.00001 to 1", "from 1 to 32"):
        page.locator(".training", has_text=text).wait_for(timeout=TIMEOUT_MS)
    assert page.locator("#train").is_visible() and page.input_value("#train-seeds") == "33"
    order(page, steps=100, lr=0.01, seeds=1)
    words(page, "after 100 steps")
    assert "from 1 to 32" not in page.inner_text(".training")


def test_stop_keeps_what_there_is_and_another_tab_takes_over(new_page):
    page = new_page(**NARROW)
    visit(page, LONG)
    order(page, steps=STEPS)
    words(page, "Step [1-9]")
    other = page.context.new_page()
    visit(other, LONG)
    order(other, steps=STEPS)
    words(page, "you started another one")
    words(other, "Step [1-9]")
    other.click("#train-stop")
    words(other, r"of 32 solve it after [\d,]+ steps")
    until(other, "p.choices.run")
    assert player(other, "p.recipe.parameters[0].max") < int(STEPS)


def worker(process):
    children, name = psutil.Process(process.pid).children(), "components.training.worker"
    return next(each for each in children if name in each.cmdline())


def test_a_worker_that_dies_leaves_a_word_and_another_trains(running, page):
    visit(page, LONG)
    order(page, steps=STEPS)
    words(page, "Step [1-9]")
    worker(running[1]).kill()
    words(page, "The training was lost")
    order(page, steps=100, seeds=1)
    words(page, "1 of 1 solve it after 100|0 of 1 solve it after 100")
    until(page, "p.choices.run && p.ready")


TICKET = re.compile("/training/([0-9a-f]{32})$")


@pytest.mark.allow_errors("Failed to load resource|did not respond|ERR_")
def test_a_training_outlives_questions_without_an_answer(page):
    """A training goes on although polls fail: some are aborted, some answered by a proxy.

    Half of the failed polls reach the server, but the browser does not get the server's answer.
    """
    ways, failed = [lambda route: route.abort(), *(partial(answered, status=s) for s in (502, 503, 200))], []

    def fail(route):
        failed.append(route)
        if len(failed) % 3:
            return route.continue_()
        if len(failed) % 2:
            route.fetch()
        ways[len(failed) // 3 % len(ways)](route)

    visit(page, LONG)
    page.route(TICKET, fail)
    counted(page)
    order(page, steps=STEPS, seeds=4)
    while len(failed) <= 3 * len(ways):
        page.wait_for_event("response", lambda answer: "/training/" in answer.url)
    until(page, "p.shown > 1")
    page.click("#train-stop")
    words(page, r"of 4 solve it after [\d,]+ steps")
    until(page, "p.choices.run && p.ready")


@pytest.mark.allow_errors("400")
def test_a_result_that_cannot_be_opened_is_told(page):
    """If a run is deleted before the page can open it, the panel says so, and not that the run is shown.

    In this case, and also if the training is lost, the figure shows what the page's address names.
    """
    end = {"state": "done", "run": "0" * 16, "days": 30, "seed": 0, "step": STEPS, "seeds": 4, "solved": 0}
    visit(page, LONG)
    page.route(re.compile("/training$"), lambda route: route.fulfill(json={"ticket": "0" * 32}))
    ends = [end | {"ended": 0}, {"state": "lost"}]
    page.route(TICKET, lambda route: route.fulfill(json={"end": ends.pop(0)}))
    for told in ("its result cannot be opened", "The training was lost"):
        player(page, "p.showTraining(p.recipe)")  # a picture of a training
        order(page, steps=STEPS, seeds=4)
        words(page, told)
        until(page, "p.ready && !p.growing")
    page.unroute_all()


def answered(route, status):
    """Answer a browser's request with this status and an HTML page, in place of the server.

    A proxy answers like this if its server is down, and so does a network that first shows a login page.
    """
    route.fulfill(status=status, headers={"Retry-After": "0"}, body="<h1>Not now</h1>")


@pytest.mark.allow_errors("Failed to load resource|ERR_|did not respond")
def test_a_server_or_worker_out_of_reach_is_told_at_a_click_and_while_it_trains(page):
    """An unreachable server or worker is reported; the figure still moves, and training goes on later."""
    visit(page, LONG)
    page.route(re.compile("/training$"), lambda route: route.abort())
    order(page, steps=STEPS, seeds=4)
    words(page, "The server does not answer. Try again")
    page.unroute_all()
    order(page, steps=STEPS, seeds=4)
    words(page, "Step [1-9]")
    page.context.set_offline(True)
    words(page, "The server does not answer at the moment")
    player(page, "p.seek(1)")
    until(page, "p.progress === 1")
    page.context.set_offline(False)
    words(page, "Step [1-9]")
    page.route(TICKET, lambda route: route.fulfill(json={"ahead": 0, "worker": False}))
    words(page, "No training worker is running")
    page.unroute_all()
    words(page, "Step [1-9]")
    page.click("#train-stop")
    words(page, r"of 4 solve it after [\d,]+ steps")


def left(page, queue, leave):
    """Leave a page that trains, and check that its training leaves the queue and its worker stops.

    queue: the server's queue. leave: a function without arguments that makes the page leave.
    """
    visit(page, LONG)
    with page.expect_request(TICKET) as asked:
        order(page, steps=STEPS)
    words(page, "Step [1-9]")
    ticket = TICKET.search(asked.value.url)[1]
    assert queue.TRAININGS.get(ticket) and queue.SIGNS.get(f"beat:{ticket}")
    leave()
    waiting.until(lambda: not queue.TRAININGS.get(ticket) and not queue.SIGNS.get(f"beat:{ticket}"))


@pytest.fixture
def queue(server_folder, monkeypatch):
    """The server's queue of trainings."""
    monkeypatch.setenv("CACHE_DIR", str(server_folder / "cache"))
    return trainings


def test_leaving_for_another_address_ends_a_training(page, queue):
    left(page, queue, lambda: page.goto("/layernorm"))


def test_a_training_that_was_left_ends_and_says_nothing_on_the_next_page(page, queue):
    def leave():
        page.get_by_role("button", name="Scenes").click()
        page.locator("#scenes").get_by_role("link", name=scenes()["octants"].title).click()

    left(page, queue, leave)
    until(page, "p.ready && p.slug === 'octants'")
    page.wait_for_timeout(4000)  # longer than QUIET_MS in assets/player/training.mjs
    unfold(page)
    assert page.inner_text("#train-words") == "" and page.locator("#train").is_visible()
    order(page, steps=99)
    words(page, "Training has not started")
