"""Arguments of wrong types, shapes and values are refused in one line that says what is expected."""

import numpy as np
import pytest

import geometry
from geometry import (
    Affine,
    Attention,
    Branches,
    Derivative,
    Entries,
    Flow,
    Normalize,
    Orbit,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Put,
    Softmax,
    Track,
)

X = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
ONE_STEP = Pipeline((Affine(np.eye(3)),))
ODD = [
    *(None, "abc", b"abc", object(), len, {}, {1, 2}, [], [None], [[None]], ["abc"], {"a": None}),
    *(10**400, 0.5, -1, [[0.5]], [[1, 2], [3]], ONE_STEP, Normalize(), float("nan"), float("inf")),
    *(np.array([]), np.zeros((0, 3)), np.array([np.nan, 1, 2]), np.ones((2, 2)), np.array(1.0)),
    *(np.array([1j, 2, 3]), np.array([None, 1, 2]), np.array(["2020-01-01"], dtype="datetime64")),
]
FUNCTIONS = {
    "layer_norm": {"gamma": np.ones(3), "beta": np.ones(3), "eps": 1e-5, "convention": "pytorch"},
    "rms_norm": {"gamma": np.ones(3), "eps": 1e-5, "convention": "pytorch"},
    "group_norm": {"groups": 3, "gamma": np.ones(3), "beta": np.ones(3), "eps": 1e-5},
    "center": {},
    "fold": {"t": 0.5, "eps": 0.1},
    "stretch": {"t": 0.5, "eps": 0.1},
    "shear": {"s": 0.5, "onto": 0, "by": 2},
    "softmax": {"temperature": 0.5},
    "to_sphere": {"radius": 1.0, "eps": 0.0, "convention": "bare", "groups": [[0, 1], [2]]},
    "u_eps": {"eps": 0.1},
}
STEPS = {
    Affine: {"A": np.eye(3), "b": np.ones(3)},
    Attention: {"keys": 1},
    Branches: {"pipelines": [ONE_STEP], "join": "sum"},
    Flow: {"velocity": ONE_STEP, "times": [0, 1, 2], "until": 1.0, "puts": []},
    Normalize: {"radius": 1.0, "eps": 0.0, "groups": [[0, 1], [2]], "convention": "bare"},
    Orbit: {"pipeline": ONE_STEP, "state": 3, "count": 2},
    Placed: {"names": [("a", "b", "c"), ("a", "b", "c")]},
    Pointwise: {"function": "relu"},
    Product: {"groups": [[0, 1], [2]]},
    Softmax: {"temperature": 1.0},
}
PARTS = {
    Derivative: {"pipeline": ONE_STEP},
    Entries: {"base": [1.0, 2.0], "terms": {}, "tracks": {}},
    Pipeline: {"steps": [Normalize()]},
    Put: {"point": 0, "time": 0.5, "place": [1.0, 0.0, 0.0]},
    Track: {"at": [0.0, 1.0], "values": [[1.0], [2.0]]},
}


def one_line(call):
    """Check that the call works, or raises ValueError with a message of one line."""
    try:
        call()
    except ValueError as problem:
        assert str(problem) and "\n" not in str(problem)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_a_wrong_argument_is_refused_in_one_line(odd):
    for name, given in FUNCTIONS.items():
        function = getattr(geometry, name)
        for argument in given:
            one_line(lambda: function(X, **{**given, argument: odd}))  # noqa: B023
        one_line(lambda: function(odd, **given))  # noqa: B023
    for kind, given in STEPS.items():
        for argument in given:
            one_line(lambda: kind(**{**given, argument: odd}).apply(X, {"a": 1.0, "b": 2.0, "c": 3.0}))  # noqa: B023
        one_line(lambda: kind(**given).apply(odd, {"a": 1.0, "b": 2.0, "c": 3.0}))  # noqa: B023
    for kind, given in PARTS.items():
        for argument in given:
            one_line(lambda: kind(**{**given, argument: odd}))  # noqa: B023
    for argument in PARTS[Put]:
        one_line(lambda: with_put(**{**PARTS[Put], argument: odd}).apply(X, {}))  # noqa: B023
    for argument in PARTS[Track]:
        one_line(lambda: Track(**{**PARTS[Track], argument: odd}).value(0.5, x=X))  # noqa: B023


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_a_wrong_value_of_a_parameter_is_refused_in_one_line(odd):
    a, params = Entries(0.0, {"a": 1.0}), {"a": odd, "b": 2.0, "c": 3.0}
    steps = [Placed([("a", "b", "c")] * 2), Normalize(radius=a), Normalize(eps=a), Softmax(temperature=a)]
    steps += [Orbit(ONE_STEP, 3, a), Flow(ONE_STEP, [0, 1, 2], until=a)]
    steps += [with_put(**{**PARTS[Put], name: a}) for name in ("point", "time")]
    steps += [with_put(point=0, time=0.5, place=Entries([1.0, 0.0, 0.0], {"a": [0.0, 1.0, 0.0]}))]
    steps += [Affine(np.eye(3), Entries(np.zeros(3), {}, {"a": Track([0, 1], np.eye(3)[:2])}))]
    for step in steps:
        one_line(lambda: step.apply(X, params))  # noqa: B023


def with_put(**arguments):
    return Flow(ONE_STEP, [0, 1, 2], 1.0, [Put(**arguments)])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: Pipeline([None]),
            r"steps of a pipeline are objects such as Affine or Normalize: got \[None\]",
        ),
        (
            lambda: Normalize(groups=[[0.5]]),
            r"groups are lists of whole numbers, such as \[\[0, 1\], \[2\]\]",
        ),
        (lambda: geometry.softmax(X, temperature=None), "real numbers are needed: got object"),
        (lambda: geometry.shear(X, s=1, onto="x"), "onto is a whole number: got 'x'"),
        (
            lambda: Flow(ONE_STEP, [1, 0]),
            r"the times of a flow are increasing numbers, one or more: got \[1, 0\]",
        ),
        (lambda: Entries([1.0], {"a": [1.0]}).value(3), "params are a dict by name: got 3"),
        (lambda: Put(float("inf"), 0.5, [1.0]), "point is the number of a point, which is finite: got inf"),
        (lambda: Put(float("nan"), 0.5, [1.0]), "point is the number of a point, which is finite: got nan"),
        (
            lambda: with_put(point=Entries(0.0, {"a": 1.0}), time=0, place=[1, 0, 0]).apply(
                X, {"a": float("-inf")}
            ),
            "point is the number of a point, which is finite: got -inf",
        ),
    ],
)
def test_the_message_says_what_is_expected(call, words):
    with pytest.raises(ValueError, match=words):
        call()
