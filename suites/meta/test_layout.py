"""Does a layout put every element where torch would find it, and leave everything else alone?"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from golden import layout
from kernels import strategies

SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@given(st.data(), SHAPES)
def test_what_is_written_is_read_and_gaps_keep_their_fill(data: st.DataObject, shape: tuple[int, ...]) -> None:
    text = data.draw(strategies.layout(shape))
    placement = layout.place(shape, text)
    values = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape)
    axis = layout.expanded_axis(text)
    if axis is not None and values.size:
        values = np.broadcast_to(values.take([0], axis), shape).copy()
    storage = np.full(placement.extent, -1)
    layout.view(storage, placement)[...] = values
    assert np.array_equal(layout.view(storage, placement), values)
    assert sorted(storage[storage >= 0]) == sorted(np.unique(values))


@given(st.data(), SHAPES)
def test_torch_sees_the_same_tensor(data: st.DataObject, shape: tuple[int, ...]) -> None:
    placement = layout.place(shape, data.draw(strategies.layout(shape)))
    storage = torch.arange(max(placement.extent, 1))
    seen = torch.as_strided(storage, placement.shape, placement.strides, placement.offset)
    assert np.array_equal(seen.numpy(), layout.view(storage.numpy(), placement))


def test_each_word_does_what_it_says() -> None:
    assert layout.place((3, 4), "contiguous").strides == (4, 1)
    assert layout.place((3, 4), "transposed").strides == (1, 3)
    assert layout.place((3, 4), "sliced2").strides == (8, 2)
    assert layout.place((3, 4), "padded3").strides == (7, 1)
    assert layout.place((3, 4), "expanded0").strides == (0, 1)
    assert layout.place((3, 4), "transposed+offset5").offset == 5
    assert layout.place((3, 4), "offset5").extent == 17


@pytest.mark.parametrize("text", ["transposed", "padded2", "expanded1"])
def test_a_layout_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(layout.LayoutError, match=text):
        layout.place((3,), text)


def test_words_are_composed_in_one_order() -> None:
    assert layout.compose(offset=3, transposed=0, sliced=None) == "transposed+offset3"
    assert layout.compose() == "contiguous"
