"""A scene in a notebook: a real JupyterLab, in which the reader drives code, and code drives the figure.

Notebook libraries are imported where they are needed, because that takes a second in each process.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.browser.conftest import ROOT, VIEWPORT, Watch
from tests.browser.hand import drag, middle
from tests.waiting import PATIENCE, answers, until
from tools.ports import free

CELLS = [
    'from normscape import Figure\nfig = Figure("layernorm", gamma1=1.5, n=60, progress=1)\nfig',
    "import torch\nfrom normscape import record\n"
    "model = torch.nn.Sequential(torch.nn.LayerNorm(6), torch.nn.LayerNorm(6))\n"
    "with record(model, tell=lambda line: None) as seen:\n    model(torch.randn(40, 6))\n"
    "seen.show(controls=[])",
]
LAYERNORM, MODEL = (640, "LayerNorm, moved by hand"), (640, "What do the norms of your model do?")
LIVING = "[data-slug={}] .views[aria-busy=false] canvas"
EYE = "(gd) => { const { x, y, z } = gd._fullLayout.scene._scene.getCamera().eye; return [x, y, z]; }"
RUN = """async () => { const { sessionContext } = jupyterapp.shell.currentWidget;
  await sessionContext.ready; await sessionContext.session.kernel.info;
  await jupyterapp.commands.execute('notebook:run-all-cells'); }"""
AGAIN = """async () => { await jupyterapp.commands.execute('docmanager:save');
  await jupyterapp.shell.currentWidget.sessionContext.shutdown(); }"""
SAYS = """async (code) => { const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  const asked = { code: '', user_expressions: { said: code } };
  const { said } = (await kernel.requestExecute(asked).done).content.user_expressions;
  return said.data ? said.data['text/plain'] : said.evalue; }"""
DOES = """async (code) => { const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  const { content } = await kernel.requestExecute({ code }).done; return content.evalue ?? ''; }"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Run JupyterLab with a notebook a.ipynb made of CELLS; yields its address and its folder."""
    import nbformat

    folder, port = tmp_path_factory.mktemp("lab"), free()
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, folder / "a.ipynb")
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder)}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=", "--ServerApp.port_retries=0"]
    command += ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/api"), 120)
        yield f"http://127.0.0.1:{port}", folder
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


@pytest.fixture
def page(browser, lab, request):
    """Open the notebook in JupyterLab, and run all cells.

    Yields the page, and a function. The function takes some words, and returns all messages from the page to
    the kernel that contain these words.
    """
    context, watch = browser.new_context(base_url=lab[0], viewport=VIEWPORT), Watch()
    watch.over(context, lab[0])
    page = context.new_page()
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto("/lab/tree/a.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.evaluate(RUN)
    yield page, lambda words: [frame for frame in sent if words in str(frame)]
    context.close()
    watch.judge(request.node)


# JupyterLab says so of a widget without a kernel.
@pytest.mark.allow_errors("widget model not found")
def test_a_hand_drives_code_and_code_drives_the_figure(page, lab):
    page, sent = page
    says, does = (lambda code: page.evaluate(SAYS, code)), (lambda code: page.evaluate(DOES, code))
    scene = page.locator("[data-slug=layernorm]")
    page.wait_for_selector(LIVING.format("layernorm"))

    scene.locator("#parameter-gamma1").press("ArrowRight")
    until(lambda: says("fig.params['gamma1']") == "1.51")
    scene.locator(".progress").press("ArrowRight")
    until(lambda: says("fig.progress") == "2.0")
    scene.locator("#choice-d").select_option("2")
    until(lambda: says("fig.choices['d'], 'gamma3' in fig.params") == "('2', False)")
    page.wait_for_timeout(500)  # longer than REPORT_INTERVAL_MS in assets/guest/figure.mjs
    assert scene.locator("#choice-d").is_visible() and not page.locator(".refused").count()

    assert does("fig.choices = {'d': '3'}; fig.params = {'gamma2': 1.7}; fig.progress = 4") == ""
    until(lambda: scene.locator("#choice-d").input_value() == "3")
    until(lambda: float(scene.locator("#parameter-gamma2").input_value()) == 1.7)
    until(lambda: float(scene.locator(".progress").input_value()) == 4)
    does("fig.follow = 7; fig.camera = [1, 1, 1]")
    figure = scene.locator(".view .figure").first
    until(lambda: figure.evaluate(EYE) == pytest.approx([1, 1, 1], abs=1e-3))
    assert does("fig.params = {'eps': 99}") == "eps=99 is not 0 or a number from 1e-08 to 10"
    page.wait_for_timeout(
        500
    )  # longer than REPORT_INTERVAL_MS in assets/guest/figure.mjs: nothing comes back
    assert says("fig.follow, fig.progress, fig.camera") == "(7, 4.0, [1.0, 1.0, 1.0])"
    figure.scroll_into_view_if_needed()
    drag(page, middle(page, "[data-slug=layernorm] .view .figure"), (80, 0))
    eye = lambda: json.loads(says("fig.camera"))[:3]  # noqa: E731  also while it turns
    until(lambda: abs(eye()[0] - 1) > 0.05 and eye() == pytest.approx(figure.evaluate(EYE), abs=1e-3))

    page.wait_for_selector(LIVING.format("model"))
    assert says("seen.recording.norms[1].path, len(seen.recording.norms)") == "('1', 2)"
    assert page.evaluate("() => normscapeCode.size") == 1, "the code is there once for both"
    assert sent('"make"') and not sent('"code":true'), "the kernel has brought it unasked"
    assert pictures(page) == [], "what lives hides its picture"
    saved(page, lab[1])
    does("fig.close()")
    until(lambda: scene.count() == 0)
    until(lambda: pictures(page) == [LAYERNORM])
    page.evaluate(AGAIN)
    page.reload()
    page.get_by_text("model not found").first.wait_for()
    until(lambda: pictures(page) == [LAYERNORM, MODEL])


def saved(page, folder):
    """Save the notebook in JupyterLab, and check a.ipynb and the HTML page that nbconvert makes of it.

    a.ipynb must have less than 400 kB. Without a network, the HTML page must show pictures of both figures.
    """
    import nbformat

    page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    book = nbformat.read(folder / "a.ipynb", as_version=4)
    assert len(json.dumps(book)) < 400_000
    assert as_page(book, page.context.browser, folder) == [LAYERNORM, MODEL]


def test_a_notebook_that_nbconvert_runs_is_a_page_with_pictures(browser, tmp_path):
    """A notebook that nbconvert runs becomes a page with still pictures.

    The widgets are not live, because the page would load their code from another host.
    """
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELLS[0])])
    NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": ROOT}}).execute()
    assert "widgets" in book.metadata
    assert as_page(book, browser, tmp_path) == [LAYERNORM]


def as_page(book, browser, folder):
    """Make a page of a notebook by nbconvert, open it without a network, and return its `pictures`."""
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter().from_notebook_node(book)
    (folder / "a.html").write_text(html, "utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((folder / "a.html").as_uri())
    found = pictures(page)
    context.close()
    return found


def pictures(page):
    """A list of pairs: width and alternative text of each visible picture of a figure."""
    seen = "(all) => all.filter((e) => e.checkVisibility()).map((e) => [e.naturalWidth, e.alt])"
    return [tuple(each) for each in page.eval_on_selector_all("img[class^=normscape]", seen)]
