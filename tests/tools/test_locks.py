"""Lock files have hashes, and include all packages that pyproject.toml names; pip installs from them."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.locks import LOCKS, TOOLS
from tools.requirements import requirements

ROOT = Path(__file__).parents[2]
FREE = {"torch"}  # each index of torch builds has its own files


def locked(name):
    """A dict: for each requirement in the lock file requirements/<name>.txt, the list of its hashes."""
    text = (ROOT / f"requirements/{name}.txt").read_text().replace("\\\n", "")
    lines = [line.split("--hash=") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {Requirement(line.strip()): hashes for line, *hashes in lines}


def versions(name):
    """A dict: for each package of a lock file, the set of its version specifiers, such as "==1.2".

    It has several if Python versions need different ones.
    """
    found = {}
    for requirement in locked(name):
        found.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    return found


@pytest.mark.parametrize("name", [*LOCKS, *TOOLS])
def test_each_package_is_pinned_with_the_hashes_of_its_files(name):
    for requirement, hashes in locked(name).items():
        assert re.fullmatch(r"==[\w.]+", str(requirement.specifier)) and not requirement.url
        assert hashes and all(re.fullmatch("sha256:[0-9a-f]{64} *", each) for each in hashes)


@pytest.mark.parametrize(("name", "groups"), LOCKS.items())
def test_a_lock_holds_what_pyproject_asks_for(name, groups):
    known = versions(name)
    for requirement in map(Requirement, requirements(groups)):
        if requirement.name not in FREE:
            (version,) = known[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version.removeprefix("=="))


def test_what_is_installed_is_what_is_tested():
    tested = versions("test")
    for name in (*LOCKS, "node"):
        assert versions(name).items() <= tested.items()


def test_old_pythons_get_their_timeouts():
    """The lock files contain async-timeout only for Pythons before 3.11.3, on which redis needs it."""
    for name in ("web", "image", "test"):
        markers = [each.marker for each in locked(name) if each.name == "async-timeout"]
        assert [marker.evaluate({"python_full_version": "3.11.2"}) for marker in markers] == [True]
        assert not markers[0].evaluate({"python_full_version": "3.11.3"})


@pytest.mark.parametrize("file", ["Makefile", "Dockerfile"])
def test_pip_installs_by_hash_and_torch_alone_without(file):
    text = (ROOT / file).read_text().replace("\\\n", " ")
    calls = [line for line in text.splitlines() if re.search(r"pip install|\$\((PIP|LOCKED)\)", line)]
    free = [line for line in calls if not re.search(r"--require-hashes|\$\(LOCKED\)|^PIP = ", line)]
    assert len(calls) > len(free) and all("torch" in line or line.endswith(" uv") for line in free), free
