"""The build hook of the wheel: its messages, and the npm files that it adds."""

from types import SimpleNamespace

import pytest

from tools.wheel import LIBRARY, Wheel


@pytest.mark.parametrize("fetched", [False, True])
def test_a_wheel_without_npms_packages_warns_of_the_full_bundle(tmp_path, fetched):
    if fetched:
        (tmp_path / LIBRARY).mkdir(parents=True)
    said, built = [], {"force_include": {}}
    Wheel(
        str(tmp_path), {}, None, None, "", "wheel", SimpleNamespace(display_warning=said.append)
    ).initialize("standard", built)
    assert list(built["force_include"].values()) == ([f"normscape/{LIBRARY}"] if fetched else [])
    assert ["full Plotly bundle" in line and "npm ci" in line for line in said] == ([] if fetched else [True])
