"""The training set of the majority task in epochs."""

import numpy as np

from tools.films.majority import epochs


def test_an_epoch_has_each_example_once_in_another_order_each_time():
    data = epochs(10, seed=3, batch=8, examples=24)
    first, second = ([data.batch(3 * epoch + k).points for k in range(3)] for epoch in range(2))
    each = [np.unique(np.concatenate(part), axis=0, return_counts=True) for part in (first, second)]
    np.testing.assert_array_equal(each[0][0], each[1][0])
    np.testing.assert_array_equal(each[0][1], each[1][1])
    assert each[0][1].sum() == 24 and (first[0] != second[0]).any()
    assert (data.batch(1).points.argmax(-1) == data.batch(1).labels).all()
