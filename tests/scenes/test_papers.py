"""The numbers of `docs/papers.md`, measured again."""

from pathlib import Path

import numpy as np
import pytest
import torch

from components.scenes.confidence.build import TOKENS
from tests.scenes import (
    atlas,
    test_confidence,
    test_depth,
    test_digits,
    test_drift,
    test_ffn,
    test_heads,
    test_labels,
    test_language,
    test_layernorm,
    test_majority,
    test_outlier,
    test_rate,
    test_rmsnorm,
    test_select,
    test_shuffle,
)
from tests.scenes.claims import said

PAPERS = (Path(__file__).parents[2] / "docs/papers.md").read_text("utf-8")


def papers_say(*numbers: tuple[float, str], text: str):
    """Assert that docs/papers.md contains `text`, and that each of its numbers is the rounded measured value.

    numbers: pairs of a measured value and the words that replace a blank `{}` of the text.
    """
    for value, words in numbers:
        said(value, words)
    assert text.format(*(words for _, words in numbers)) in PAPERS


def test_one_norm_multiplies_a_gradient_by_one_over_sigma():
    x = np.random.default_rng(0).normal(size=(200, 64))
    ends = []
    for size in (0.01, 1, 100):
        factors = []
        for row in torch.tensor(size * x):
            J = torch.autograd.functional.jacobian(
                lambda v: torch.nn.functional.layer_norm(v, (64,), eps=0.0), row
            )
            factors.append(torch.linalg.svdvals(J)[0].item())
        np.testing.assert_allclose(factors, 1 / (size * x).std(1), rtol=1e-12)
        ends += [min(factors), max(factors)]
    words = ("82", "136", "0.82", "1.36", "0.0082", "0.0136")
    papers_say(
        *zip(ends, words, strict=True), text="{} to {}, {} to {} and {} to {} for vectors of 64 numbers"
    )


def test_the_length_where_decay_and_noise_balance():
    ratios = []
    for rate, decay in ((0.3, 0.1), (1.0, 0.1), (2.0, 0.3)):
        means = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            found = test_rate.lengths(rate, decay, 20_000, lambda n, rng=rng: rng.normal(size=n))
            means.append(found[2000:].mean())
        ratios.append(np.median(means) / (rate / (2 * decay)) ** 0.25)
    papers_say(
        *zip(ratios, ("1.01", "1.03", "1.30"), strict=True),
        text="The mean length is {}, {} and {} times this value",
    )


def test_outputs_with_an_outlier_are_nearly_one_point():
    far = []
    for norm in ("layernorm", "rmsnorm"):
        recipe, params = test_outlier.state(norm, 3, a=30.0)
        ends = [test_outlier.end(cloud, recipe, params) for cloud in ("exact", "ends")]
        far.append(np.linalg.norm(ends[0] - ends[1], axis=1).max())
    words = ("0.132", "0.148")
    papers_say(
        *zip(far, words, strict=True),
        text="all outputs of LayerNorm lie within {} of a single point, and all outputs of RMSNorm within {}",
    )


def test_the_coordinate_of_first_tokens_in_a_language_model():
    test_outlier.real_vectors()
    assert (
        "between 17,824 and 26,032. After RMSNorm their cosines with one another are at least 0.9998."
        in PAPERS
    )


def test_a_push_into_the_null_space_and_a_constant():
    recipe, params = test_confidence.state()
    kept = test_confidence.shown(recipe, params)
    pushed = {n: test_confidence.shown(recipe, params | {"n": n}) for n in (0.5, 4.0)}
    longer = np.linalg.norm(TOKENS + 0.5 * np.eye(3)[2], axis=1) > np.linalg.norm(TOKENS, axis=1)
    np.testing.assert_array_equal(pushed[0.5][:, 6] > kept[:, 6], longer)
    papers_say(
        (longer.sum(), "179"),
        (len(TOKENS) - longer.sum(), "61"),
        text="A push of 0.5 raises the entropy of {} tokens. For the other {} the vector becomes shorter and the entropy falls.",
    )
    assert (pushed[4.0][:, 6] > kept[:, 6]).all() and len(TOKENS) == 240
    constant, still = (test_confidence.shown(recipe, params | {"t": 1.0, "n": n}) for n in (8.0, 0.0))
    np.testing.assert_allclose(constant[:, 3:6], still[:, 3:6], atol=1e-12)
    change = np.abs(still[:, 3:6] - kept[:, 3:6]).max(1)
    rms = np.sqrt(np.mean(TOKENS**2, axis=1))
    papers_say(
        (np.median(change), "0.088"),
        (change.max(), "0.323"),
        text="The median of these changes is {}, the largest is {}.",
    )
    papers_say((rms.min(), "0.17"), (rms.max(), "2.22"), text="of the tokens, which lie between {} and {}.")


def test_scores_of_trained_models():
    every = {name: np.concatenate(atlas.heads(name, "cosine")) for name in atlas.NAMES}
    medians = [
        (float(np.median(found)), words)
        for found, words in zip(every.values(), ("0.951", "0.969", "0.981", "0.982"), strict=True)
    ]
    lowest = (min(float(found.min()) for found in every.values()), "0.735")
    papers_say(
        *medians,
        lowest,
        text="within a head is {}, {}, {} and {} (medians over the heads of SmolLM2, MiniLM, AntiBERTy and the ALBERT of rxnmapper), and {} in the lowest head.",
    )
    papers_say(
        *[
            (float(np.median(np.concatenate(atlas.heads("smollm2", column)))), words)
            for column, words in (("later", "0.963"), ("undivided", "0.927"))
        ],
        text="without the first token, the correlation is {}, and would still be {} if the norm did not divide.",
    )
    spread = np.concatenate([np.concatenate(atlas.heads(name, "spread")) for name in atlas.NAMES])
    assert len(spread) == 502
    papers_say(
        (spread.min(), "0.65"),
        (spread.max(), "19.9"),
        ((spread > 1).sum(), "490"),
        text="The standard deviation of the divided scores is {} to {}, and above 1 in {} of the 502 heads.",
    )


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (test_rmsnorm.orthogonal_to_ones, "95 % of the vectors are less than 4.6° away from the hyperplane"),
        (
            test_rmsnorm.orthogonal_to_ones,
            "In 101 norms the median angle is also smaller than for random vectors",
        ),
        (
            test_select.keys_of_trained_models,
            "We took 60 vectors at each of 116 norms, 6,960 in all. Before the norm, 32 of them can never have the highest score alone. After the norm there are again 32",
        ),
        (
            test_select.copies_with_a_position,
            "In four models with 128 to 576 dimensions, every key had a query that selects it, except keys that were copies of others.",
        ),
        (
            test_language.tokens_of_the_sentence,
            "*was* occurs twice, and its two vectors are equal before and after the first",
        ),
        (
            test_language.tokens_of_the_sentence,
            "in each of the 162 key heads of these two models (with 32 or 64 dimensions; in SmolLM2, three query heads share one key head), every key of a text of 512 tokens can have the highest score",
        ),
        (test_depth.trained_streams, "from 2.8 before the first norm of SmolLM2 to 1,027 before the last"),
        (
            test_drift.the_division,
            "In layer 2 the path is longer after LayerNorm: 1.3 instead of 1.0. In layers 3 and 4 it is a little shorter: 1.1 instead of 1.2",
        ),
        (
            test_drift.after_ten_windows,
            "from 2.55 to 2.53 nats with LayerNorm, and from 2.48 to 2.47 without",
        ),
        (
            test_shuffle.no_difference,
            "across heads, which raises the loss by 1.83 nats, or within a single head, which raises it by 1.82",
        ),
        (
            test_layernorm.points_come_nearer,
            "Two points of different means come nearer to each other; two of the same mean keep their distance",
        ),
        (test_layernorm.one_flat_direction, "The outputs are flat along $𝟏$ only"),
        (test_language.losses, "2.59 and 2.65 nats without the division, and between 2.58 and 2.65 with it"),
        (
            test_heads.surfaces,
            "a new text cost 1.56, 1.63, 1.53 and 1.53 nats more than the learned one; with noise, the loss was 1.14, 1.16, 1.20 and 1.24 nats higher than without",
        ),
        (
            test_depth.of_a_number_over_tokens,
            "after LayerNorm the mean of this coordinate over the tokens is still shifted",
        ),
        (
            test_ffn.narrow,
            "three of 8 networks lose all points, and 66 % of their answers are right. The other five lose about half of the points; one of these also answers 66 % right, the other four 83 %",
        ),
        (test_ffn.nothing_lost_with_nine, "With 9 neurons nothing is lost and all answers are right"),
        (test_ffn.more_zeros, "With 12 neurons on the circle the share of zeros goes from 47 % to 57 %"),
        (
            test_ffn.hardly_fewer_bits,
            "from 3.86 to 3.83 bits with 12 neurons, and from 2.94 to 3.07 with 6. On the sphere with 3 neurons it does fall, from 2.19 to 1.78",
        ),
        (
            test_labels.smaller_steps,
            "We trained 128 networks of depth 4 on 32 points with random labels. After 4,000 steps 4 of them fit their labels, and after 20,000 steps 32 do",
        ),
        (
            test_digits.the_answer,
            "classifies 95.6 % correctly, one with $u_\\varepsilon$ (which divides a vector by its length, without centring) 97.2 %, and one with nothing between its layers 95.8 %",
        ),
        (test_majority.no_difference, "p = 0.08 with a learning rate of 0.001, and p = 0.85 with 0.01"),
    ],
)
def test_claims_that_scenes_measure(measure, words):
    measure()
    assert words in PAPERS
