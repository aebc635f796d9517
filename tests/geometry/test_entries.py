import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from geometry import Entries, Track

ROUNDING = 1e-14  # double precision, one interpolation
TRACK = Track([0, 1, 3], [[0.0, 10], [1.0, 20], [5.0, 40]])


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=ROUNDING)


def test_constant(xp):
    x = xp.zeros((2, 3), dtype=xp.float32)
    got = Entries.of([[1, 2], [3, 4]]).value(x=x)
    assert got.dtype == xp.float32 and np.asarray(got).tolist() == [[1, 2], [3, 4]]


def test_of_is_idempotent():
    entries = Entries.of(3)
    assert Entries.of(entries) is entries and entries.shape == ()


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_affine_in_parameters(s, t):
    entries = Entries([[1, 0], [0, 1]], terms={"s": [[0, 1], [0, 0]], "t": [[2, 0], [0, 2]]})
    assert entries.parameters == {"s", "t"}
    close(entries.value({"s": s, "t": t}), [[1 + 2 * t, s], [0, 1 + 2 * t]])


@pytest.mark.parametrize(
    ("t", "want"),
    [
        (-9, [0, 10]),
        (0, [0, 10]),
        (0.25, [0.25, 12.5]),
        (1, [1, 20]),
        (2, [3, 30]),
        (3, [5, 40]),
        (9, [5, 40]),
    ],
)
def test_track_interpolates_and_holds_its_ends(xp, t, want):
    entries = Entries([1.0, 1.0], terms={"t": [0, 1]}, tracks={"t": TRACK})
    x = xp.zeros(2, dtype=xp.float64)
    close(TRACK.value(t, x=x), want)
    close(entries.value({"t": t}, x=x), [want[0] + 1, want[1] + 1 + t])


def test_track_of_one_value_is_constant():
    assert Track([2], [7.0]).value(5, x=np.zeros(1)) == 7


def test_gradients_flow_into_base_terms_tracks_and_parameters():
    base, term, values = (torch.ones(s, dtype=torch.float64, requires_grad=True) for s in (2, 2, (3, 2)))
    t = torch.tensor(2.0, dtype=torch.float32, requires_grad=True)
    entries = Entries(
        base, terms={"t": term}, tracks={"t": Track([0, 1, 3], values * torch.arange(6).view(3, 2))}
    )
    entries.value({"t": t}).sum().backward()
    close(base.grad, [1, 1])
    close(term.grad, [2, 2])
    close(values.grad, [[0, 0], [1, 1.5], [2, 2.5]])
    close(t.grad, 2 + 2)  # both terms, and a slope of 1 in both entries of the track


def test_a_missing_parameter_is_named_and_a_foreign_one_ignored():
    entries = Entries(1.0, terms={"gain": 1.0})
    with pytest.raises(ValueError, match=r"\['gain'\].*only \['shear'\]"):
        entries.value({"shear": 1.0})
    assert entries.value({"gain": 2.0, "shear": 1.0}) == 3


@pytest.mark.parametrize("parts", [{"terms": {"t": [1.0]}}, {"tracks": {"t": Track([0, 1], [0.0, 1.0])}}])
def test_all_parts_have_one_shape(parts):
    with pytest.raises(ValueError, match="'t'"):
        Entries([1.0, 2.0], **parts)


@pytest.mark.parametrize("at", [[], [0, 0], [1, 0], [0, float("nan")], [[0, 1]]])
def test_track_values_increase(at):
    with pytest.raises(ValueError, match="increasing"):
        Track(at, np.zeros((len(at), 2)))


def test_track_has_a_value_for_each():
    with pytest.raises(ValueError, match="each of its 2"):
        Track([0, 1], [1.0, 2.0, 3.0])
