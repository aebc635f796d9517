"""Verdicts on models of timm, which has its own implementations of ViT, Swin and others."""

import copy
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch

from learning.convert import plan
from learning.convert.confirm import difference, outputs
from learning.convert.effect import centring_toggled, recognised

FOLDER = Path(sys.prefix) / "timm"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="`make models` installs timm")
EXACT, SEEN = 1e-12, 1e-6  # relative, in float64: tolerance for sums in another order; a real difference
SMALL = {"depth": 2, "img_size": 32, "patch_size": 8, "embed_dim": 32, "num_heads": 2}
STAGES = {"depths": (1, 1, 1, 1), "dims": (8, 16, 16, 16)}
# sizes; and the number of norms whose centring folds, and of norms that centre
MODELS = {
    "vit_tiny_patch16_224": (SMALL, (5, 5)),
    "vit_tiny_patch16_224 with norms of heads": (SMALL | {"qk_norm": True}, (9, 9)),
    "deit3_small_patch16_224": (SMALL, (5, 5)),
    "cait_xxs24_224": (SMALL, (9, 9)),
    "beit_base_patch16_224": (SMALL, (5, 5)),
    "convnext_tiny": (STAGES, (1, 9)),
    "swin_tiny_patch4_window7_224": (
        {"img_size": 32, "window_size": 4, "embed_dim": 16, "depths": (1, 2), "num_heads": (2, 2)},
        (6, 9),
    ),
}


@pytest.fixture(scope="session")
def timm():
    """The package timm, also if PyTorch is a CPU build on Linux, for which PyPI has no torchvision.

    timm imports torchvision. The library with the operators of PyPI's torchvision needs CUDA. timm's models
    use none of these operators, but the import of torchvision registers shapes for two of them. So these two
    are declared here.
    """
    for name in ("nms", "qnms"):
        torch.library.define(
            f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        )
    sys.path.append(str(FOLDER))
    yield import_module("timm")
    sys.path.remove(str(FOLDER))


@pytest.mark.parametrize("name", MODELS)
def test_a_verdict_is_what_the_fold_shows(name, timm):
    sizes, folds = MODELS[name]
    torch.manual_seed(0)
    model = timm.create_model(name.partition(" ")[0], pretrained=False, num_classes=5, **sizes).eval()
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.2 * torch.randn(each.shape))
    images = (torch.randn(2, 3, 32, 32),)
    found = plan(model, *images)
    verdicts = {norm.name: norm.centring.verdict for norm in found.norms if norm.kind == "LayerNorm"}
    yes = [path for path, verdict in verdicts.items() if verdict == "yes"]
    assert (len(yes), len(verdicts)) == folds, verdicts

    before, folded = outputs(model.double(), images, {}), copy.deepcopy(model)
    found.apply(folded)
    assert difference(before, outputs(folded, images, {})) <= EXACT
    norms = recognised(folded, list(verdicts))
    with centring_toggled(folded, {path: norms[path] for path in yes}):
        assert difference(before, outputs(folded, images, {})) <= EXACT
    for path, verdict in verdicts.items():
        if verdict == "no":
            with centring_toggled(folded, {path: norms[path]}):
                assert difference(before, outputs(folded, images, {})) > SEEN, path
