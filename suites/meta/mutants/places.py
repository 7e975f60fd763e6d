"""Kernels that sort values rightly, and say wrongly where they were: only among equal elements, whose order is open."""

import torch

from kernels import implementation
from suites.meta.mutants import fault


def _tied(values, dim):
    """Return which of sorted values are equal to the one before."""
    before = torch.roll(values, 1, dim)
    first = torch.arange(values.shape[dim], device=values.device) == 0
    return (values == before) & ~first.view(-1, *[1] * (values.dim() - 1 - dim % values.dim()))


@fault("F19", "pytorch#127196")
@implementation("sort", paradigm="torch")
def wrong_index_repeated(x, *, dim, descending):
    """Each of equal elements gets the index of the one before."""
    values, indices = torch.sort(x, dim=dim, descending=descending)
    return values, torch.where(_tied(values, dim), torch.roll(indices, 1, dim), indices)


@fault("F19", "pytorch#27542")
@implementation("topk", paradigm="torch")
def wrong_index_of_another(x, *, k):
    """An element that is equal to the one before gets the index of the smallest, which is not among them."""
    values, indices = torch.topk(x, k)
    if not 0 < k < x.shape[-1]:
        return values, indices
    return values, torch.where(_tied(values, -1), x.argmin(-1, keepdim=True), indices)


@fault("F19", "pytorch#127196")
@implementation("topk", paradigm="torch")
def wrong_index_out_of_range(x, *, k):
    """The indices of equal elements are those of a row that is one longer."""
    values, indices = torch.topk(x, k)
    return values, torch.where(_tied(values, -1), x.shape[-1], indices)
