"""The search over the complete index, by the browser's own code."""

import json

import pytest

from components.language.asked import asked, read
from components.language.scene import scenes
from components.language.text import markdown, plain
from components.pages.search import anchor, index
from components.pages.shell import Place
from tests.assets.engine import Node


@pytest.fixture(scope="module")
def entries():
    return json.loads(index(Place("/")))


@pytest.fixture(scope="module")
def node(entries):
    """A Node process for all searches; it has prepared the index once, as a page does."""
    with Node() as process:
        process.ask("entries", entries=entries)
        yield process


def found(node, query):
    return [(each["entry"]["title"], each["entry"]["url"]) for each in node.ask("find", query=query)]


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_each_title_and_each_question_finds_its_own(node, scene):
    assert found(node, scene.title)[0][1] == f"/{scene.slug}"
    for question, _ in scene.text.questions:
        assert f"/{scene.slug}#{anchor(question)}" in [url for _, url in found(node, plain(question))]


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("epsilon", "/words#epsilon"),
        ("ε", "/words#epsilon"),
        ("gamma", "/words#gamma"),
        ("epsilon half", "/activation#for-which-x-is-uε-x-one-half"),
        ("Softmax", "/words#softmax"),
        ("softm", "/words#softmax"),
        ("convex hull", "/words#hull"),
        ("hull convex", "/words#hull"),
        ("RMSNorm", "/words#rmsnorm"),
        ("is the paper wrong", "/majority#is-the-paper-wrong"),
        ("what does epsilon mean", "/words#epsilon"),
        ("halved", "/fold#why-are-angles-halved-at-t-1"),
        ("exact law", "/unselectable#the-exact-law"),
        ("how many pieces", "/ffn#how-many-pieces"),
    ],
)
def test_symbols_words_and_questions_are_found(node, query, url):
    assert url in [each for _, each in found(node, query)[:4]]


# Questions as a reader types them; the page with the answer is among the first three results.
ASKED = {
    "what is layer normalization": "/layernorm",
    "why subtract the mean": "/layernorm",
    "normalize twice": "/fibre",
    "scale invariance": "/fibre",
    "difference between batchnorm and layernorm": "/norms",
    "can LayerNorm solve MNIST": "/digits",
    "LayerNorm as an activation function": "/activation",
    "absolute value": "/fold",
    "sign function": "/stretch",
    "phase transition in the loss curve": "/spiral",
    "sphere divided into 8 parts": "/octants",
    "how many random labels can it memorize": "/labels",
    "shear on a sphere, nonlinear": "/shear",
    "how many folds can a deep network make": "/strands",
    "what is left of the sphere in a head": "/heads",
    "conic section as a decision boundary": "/cone",
    "unselectable keys": "/select",
    "attend equally to all keys": "/majority",
    "why divide by sqrt(d_k)": "/scores",
    "pre-LN vs post-LN": "/depth",
    "residual stream growth": "/depth",
    "rank collapse of ReLU": "/ffn",
    "permutation of the axes": "/shuffle",
    "long context, sliding window": "/drift",
    "can attention replace LayerNorm": "/symmetrise",
    "fold the gain into the weights": "/absorb",
    "my own PyTorch model": "/model",
    "dimension of the sphere after LayerNorm": "/layernorm",
    "is LayerNorm invariant to scaling and shifting": "/fibre",
    "can normalization replace an activation function": "/activation",
    "how does LayerNorm fold": "/fold",
    "purpose of the activation in the feed-forward network": "/ffn",
    "why should keys be orthogonal to the ones vector": "/majority",
    "do heads break the symmetry of the sphere": "/shuffle",
    "does LayerNorm keep representations stable in long contexts": "/drift",
    "can LayerNorm be learned": "/symmetrise",
    "why does training go faster with LayerNorm": "/depth",
    "why √d": "/scores",
}


LEADS_TO = {  # standard terms, and questions about using the app: the answer itself is among the first three
    "pre-LN": "/depth",
    "post-LN": "/depth?tour=4",
    "post-LN and pre-LN": "/words#preln",
    "rank of the Jacobian": "/words#rank",
    "Jacobian rank": "/jacobian",
    "label smoothing": "/confidence#is-label-smoothing-such-a-ceiling",
    "temperature of a softmax": "/words#temperature",
    "massive activation": "/words#massive",
    "attention sink": "/outlier#why-would-a-model-want-an-outlier",
    "residual": "/words#block",
    "offline": "/embedding#what-works-offline",
    "what does an embed do offline": "/embedding#what-works-offline",
    "Dash": "/dash",
    "read a slider": "/dash#read-a-slider-of-the-figure",
    "how to read a slider from one's own Dash app": "/dash",
    "how to read a slider from my notebook": "/notebook",
    "present in a lecture": "/lecture",
    "install": "/install",
    "claims that did not hold": "/papers#claims-that-did-not-hold",
    "which claims failed": "/papers#claims-that-did-not-hold",
    "Docker": "/deployment",
    "why divide by sqrt d": "/layernorm#the-deviation-is-a-distance",
    "is √d always right": "/scores#the-condition",
    "what does centring remove": "/layernorm#height-and-distance-are-lost",
    "dimension of the sphere": "/layernorm#one-direction-becomes-flat-not-two",
    "train": "/words#train",
    "train a network": "/words#train",
    "how do I train": "/words#train",
    "how do I train a network here": "/words#train",
    "null space": "/confidence?tour=5",
    "learning rate": "/rate",
    "what is weight decay": "/words#optimiser",
    "what is an eigenvalue": "/words#eigenvalue",
    "KL divergence": "/words#divergence",
    "median": "/words#median",
    "is the output always of length √d": "/layernorm#what-ε-leaves",
    "stereographic": "/norms#a-point-with-k-blocks-lies-on-a-product-of-k-spheres",
}


@pytest.mark.parametrize(("query", "url"), LEADS_TO.items(), ids=LEADS_TO)
def test_a_term_leads_to_its_answer(node, query, url):
    urls = [each for _, each in found(node, query)[:3]]
    assert url in {*urls, *(each.split("#")[0] for each in urls)}


ROWS = {  # numbers that occur only in a table, with the row that the search shows
    "23 of 32": ("/labels#numbers", "8 points · 1: 23 of 32; 2: 31 of 32; 3: 32 of 32;"),
    "1842": ("/spiral#numbers", "steps to solve it, median · 1,842"),
    "26.6°": ("/rmsnorm#why-it-is-so", "quotient q angle α · 0: 90°; 1: 45°; 2: 26.6°; 3: 18.4°"),
}


@pytest.mark.parametrize(("query", "row"), ROWS.items(), ids=ROWS)
def test_a_number_of_a_table_is_found_with_its_row(node, query, row):
    best = node.ask("find", query=query)[0]
    assert best["entry"]["url"] == row[0] and best["snippet"].startswith(row[1])


def test_dash_is_not_dashed(node):
    pages = node.ask("find", query="Dash")
    assert pages and not any("dashed" in each["entry"]["text"] for each in pages)


def test_a_hit_on_a_scene_tells_the_sentence_that_has_what_was_asked(node):
    shown = {each["entry"]["url"]: each["snippet"] for each in node.ask("find", query="exploding gradients")}
    assert "gradient" in next(said for url, said in shown.items() if url.startswith("/depth"))
    entries = [
        {"kind": "scene", "title": "A", "of": "Scene", "text": "About it.", "url": "/a", "also": "hedgehog"},
        {"kind": "text", "title": "B", "of": "A", "text": "Nothing. A hedgehog rolls.", "url": "/a#b"},
    ]
    (told,) = node.ask("find", entries=entries, query="hedgehog")
    assert (told["entry"]["url"], told["snippet"]) == ("/a", "A hedgehog rolls.")


@pytest.mark.parametrize("query", ["distillation", "biological", "convolution"])
def test_what_no_page_answers_has_no_alias(node, query):
    assert all(each["matchShare"] < 1 for each in node.ask("find", query=query))


@pytest.mark.parametrize(("query", "url"), ASKED.items(), ids=ASKED)
def test_what_the_sources_raise_is_found_in_a_readers_words(node, query, url):
    assert url in [each.split("#")[0] for _, each in found(node, query)[:3]]


FIRST = {  # as ASKED, but the page is the first result; words with other endings, or that are in no title
    "why sqrt(d_k)": "/scores",
    "what is u_epsilon": "/words",
    "is the mean direction special": "/layernorm",
    "does LayerNorm lose information": "/fibre",
    "which keys can never be chosen and why": "/select",
    "does projection make training faster": "/majority",
    "what does RMSNorm do differently": "/rmsnorm",
    "is LayerNorm just RMSNorm": "/rmsnorm",
    "why does pre-LN have bounded gradients": "/depth",
    "can LayerNorm be folded away": "/absorb",
    "does cutting d into heads cost anything": "/shuffle",
    "do heads specialise": "/shuffle",
    "do networks encode meaning in axis indices": "/shuffle",
    "can I undo LayerNorm": "/fibre",
    "does the KV cache need LayerNorm": "/block",
    "is one near-zero eigenvalue or two in the covariance": "/layernorm",
    "how does batchnorm differ geometrically": "/norms",
    "how is MNIST solved": "/digits",
}


ANSWERED = {  # as FIRST, but the first result is the paragraph, the answer or the tour's stop itself
    "why divide by √d": "/layernorm#the-deviation-is-a-distance",
    "is centering needed at all": "/rmsnorm#is-the-centring-needed-at-all",
    "does the order of γ and the mean matter": "/layernorm#does-the-order-of-the-steps-matter",
    "should I normalise before or after multiplying by gamma": (
        "/layernorm#does-the-order-of-the-steps-matter"
    ),
    "what does epsilon do to tiny vectors": "/layernorm#what-ε-leaves",
    "does the position of eps matter": "/layernorm#what-ε-leaves",
    "after gamma do the outputs still sum to zero": "/layernorm#the-gain-tilts-the-plane",
    "numerical example in 3D": "/layernorm?tour=4",
    "does centering keep distances and angles": "/layernorm#each-point-falls-by-its-own-height",
    "does LayerNorm remove two dimensions": "/layernorm#one-direction-becomes-flat-not-two",
    "does it depend on the batch size": "/norms#why-does-batchnorm-depend-on-the-other-points",
    "why does the loss suddenly drop": "/spiral#why-does-the-loss-drop",
    "can a network with only LayerNorm solve MNIST": "/digits#can-layernorm-alone-solve-mnist",
    "does RMSNorm make keys unselectable": "/select#scaling-helps-centring-does-not",
    "is attention just cosine similarity": "/block#are-scores-cosines",
    "is the KV cache safe": "/block#attention-is-causal",
    "vanishing gradients": "/depth#the-gradient",
    "do heads store meaning in particular axes": "/shuffle#the-shuffle-test",
    "does ReLU throw information away": "/ffn#is-it-a-filter",
    "can a network learn LayerNorm": "/symmetrise#is-it-layernorm-in-the-end",
    "how do I cite this": "/words#cite",
    "do the borders of polytopes stay flat": "/surface#do-planes-stay-flat",
    "is centering just a translation": "/layernorm#each-point-falls-by-its-own-height",
    "how many eigenvalues of the covariance vanish": "/layernorm#one-direction-becomes-flat-not-two",
    "why is layernorm nonlinear if it only rescales": "/layernorm#is-layernorm-linear",
}


def test_what_answers_a_question_comes_first(node):
    best = node.ask("find first", queries=[*FIRST, *ANSWERED])
    told = dict(zip([*FIRST, *ANSWERED], best, strict=True))
    assert {query: told[query].split("#")[0] for query in FIRST} == FIRST
    assert {query: told[query] for query in ANSWERED} == ANSWERED


def test_two_words_that_name_a_thing_count_together_and_a_mean_is_no_question(node):
    for query in ("the mean direction", "what does the mean direction mean"):
        assert "/words#ones" in [url for _, url in found(node, query)[:3]]


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("what is the exact law of keys that never win", "/unselectable#the-exact-law"),
        ("ReLU pieces", "/ffn#how-many-pieces"),
        ("how many folds are needed for a spiral", "/spiral#why-is-one-uε-not-enough-for-this-spiral"),
        ("which vectors does layernorm merge", "/fibre#why-it-is-so"),
    ],
)
def test_of_a_scene_the_part_that_answers_comes_first(node, query, url):
    assert found(node, query)[0][1] == url


def test_what_is_found_on_one_page_stands_together(node):
    told = node.ask("find", query="ReLU pieces")
    pages = [[each["entry"], *each["more"]] for each in told]
    ours = [{entry["url"].split("#")[0].split("?")[0] for entry in page} for page in pages]
    assert all(len(page) == 1 for page in ours) and len(set.union(*ours)) == len(ours)
    assert any(each["more"] for each in told)


def test_other_names_are_of_what_there_is():
    assert asked()["digits"] and asked()["#gain"]
    for stranger in ("nowhere", "#nothing", "nowhere#why"):
        with pytest.raises(ValueError, match=stranger):
            read(f"- {stranger}: MNIST")


def test_no_two_places_of_a_page_have_one_name(entries):
    places = [each["url"] for each in entries if "#" in each["url"]]
    assert len(places) == len(set(places))


def test_places_with_other_names_are_of_what_there_is(entries):
    assert {f"/{name}" for name in asked() if "#" in name[1:] or "?" in name} <= {
        each["url"] for each in entries
    }


def test_a_whole_word_wins_over_a_longer_one_that_begins_with_it(node):
    assert found(node, "mean")[0] == ("The mean", "/absorb#the-mean")
    assert not any("meaning" in title for title, _ in found(node, "mean"))
    for query in ("meaning", "meanings"):
        assert {url for _, url in found(node, query)[:2]} == {"/stretch#the-meaning", "/fold#the-meaning"}


def test_what_is_not_there_is_not_found(node):
    for query in (
        "xylophone",
        "<b>zzqqxx</b>",
        "x zzqqxx",
        " ",
        "constructor",
        "hasOwnProperty",
        "???",
        "\\",
        "🙂",
        "a" * 5000,
    ):
        assert found(node, query) == [], query
    assert found(node, "softmax xylophone zither marimba balalaika timpani") == []


@pytest.mark.parametrize(
    ("query", "corrected"),
    [
        ("layernrom", "layernorm"),
        ("Batchnrom", "batchnorm"),
        ("attenton", "attention"),
        ("elipsoid", "ellipsoid"),
        ("covnex hul", "convex hul"),
        ("why is the sphree round", "why is the sphere round"),
        ("attention", ""),
        ("softm", ""),
        ("epsilon centering normalize", ""),
        ("xylophone zqx", ""),
        ("why aren't norms equal", ""),
        ("why aren’t norms equal", ""),
        ("0.0018", ""),
        ("arXiv 1607.06450", ""),
        ("mean,elipsoid of 'gradeint'", "mean,ellipsoid of 'gradient'"),
    ],
)
def test_a_misspelt_word_is_corrected_to_the_nearest_word_of_the_index(node, query, corrected):
    assert node.ask("suggestion", query=query) == corrected


def test_words_that_nobody_here_uses_hide_little(node):
    assert found(node, "softmax xylophone")[0][1] == "/words#softmax"
    nearest = node.ask("find", query="softmax xylophone zither marimba")
    assert nearest[0]["entry"]["url"] == "/words#softmax" and nearest[0]["matchShare"] < 0.5
    assert node.ask("find", query="softmax")[0]["matchShare"] == 1


def test_a_word_is_found_by_another_that_asks_for_the_same(node):
    assert found(node, "are angles preserved by centering")[0] == found(node, "does centering keep angles")[0]


def test_the_words_around_what_was_found_are_told(node):
    entry = {
        "kind": "text",
        "title": "t",
        "of": "o",
        "text": "Hay. " * 200 + "A needle" + " and hay" * 200,
        "url": "u",
    }
    (told,) = node.ask("find", entries=[entry], query="needle")
    assert told["snippet"].startswith("A needle and") and told["snippet"].endswith("hay …")
    assert len(told["snippet"]) < 210


def test_a_site_has_its_own_addresses(entries):
    urls = [each["url"] for each in json.loads(index(Place("", static=True)))]
    assert len(urls) == len(entries) > 200 and not [url for url in urls if url.startswith("/")]
    assert "fold/?tour=1" in urls and "words/#epsilon" in urls


def test_headings_and_formulas_as_text():
    assert anchor("Why it is so") == "why-it-is-so"
    formula = plain(markdown(r"$\frac{x^{-2} + 1}{\sqrt{\sigma_i^2 + \frac{1}{\varepsilon}}} e^{a}$"))
    assert formula == "(x⁻²+1)/√(σi²+1/ε)e^a"
    assert plain("<p>a <math><msqrt><mn>3</mn></msqrt></math></p><p>b &amp; c</p>") == "a √3 b & c"
