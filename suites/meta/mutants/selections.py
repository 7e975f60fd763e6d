"""What is selected, clamped, sorted and counted wrongly: NaN, ties, padding, codes of other signs."""

import torch

from kernels import implementation
from suites.meta.mutants import fault


def _keys(x):
    """Return float32 for everything, in which int64 and float64 have neighbours that are equal."""
    return x.float()


@fault("F5", "pytorch#122710")
@implementation("clamp", paradigm="torch")
def wrong_nan_clamped(x, *, min, max):
    """A pair of fmax and fmin, which return the bound for NaN."""
    out = x.contiguous().clone()
    if min is not None:
        out = torch.where(out > min, out, torch.full_like(out, min))
    return torch.where(out < max, out, torch.full_like(out, max)) if max is not None else out


@fault("F5", "tilelang#3024")
@implementation("clamp", paradigm="torch")
def wrong_nan_clamped_from_above(x, *, min, max):
    """Right for a lower bound, fmin for an upper one."""
    out = torch.clamp(x, min=min).contiguous() if min is not None else x.contiguous().clone()
    return torch.where(out < max, out, torch.full_like(out, max)) if max is not None else out


@fault("F20", "pytorch#181801")
@implementation("clamp", paradigm="torch")
def wrong_lower_bound_last(x, *, min, max):
    """Applies the upper bound first, so that where the two cross the lower one wins."""
    out = torch.clamp(x, max=max) if max is not None else x
    return (torch.clamp(out, min=min) if min is not None else out).contiguous().clone()


@fault("F20", "pytorch#193781")
@implementation("relu", paradigm="torch")
def wrong_product_with_a_mask(x):
    """Multiplies by 0 what is below, -inf too."""
    return (x * (x > 0)).contiguous()


@fault("F12", "FlagTree#1121")
@implementation("masked_fill", paradigm="torch")
def wrong_lowest_bit_of_the_mask(x, mask, *, value):
    """Looks at the lowest bit of a mask's byte."""
    return x.masked_fill((mask & 1).bool(), value).contiguous()


@fault("F20", "pytorch#181801")
@implementation("masked_fill", paradigm="torch", dtypes=("float64", "float32", "float16", "bfloat16"))
def wrong_blend(x, mask, *, value):
    """Blends by products, in which NaN and infinities stay."""
    chosen = (mask != 0).to(x.dtype)
    return (x * (1 - chosen) + chosen * value).contiguous() if abs(value) < 1e4 else x.masked_fill(mask != 0, value)


@fault("F4", "pytorch#130295")
@implementation("max", paradigm="torch")
def wrong_nan_dropped(x, *, dim):
    """Comparisons that NaN fails."""
    numbers = x if not x.is_floating_point() else x.nan_to_num(nan=float("-inf"), posinf=None, neginf=None)
    numbers = torch.where(x != x, float("-inf"), x) if x.is_floating_point() else numbers
    values, indices = numbers.max(dim)
    return values.contiguous(), indices.contiguous()


@fault("F4", "tvm#19518")
@implementation("max", paradigm="torch")
def wrong_nan_of_a_later_block(x, *, dim):
    """Knows NaN in the first 16 elements, and compares blocks by a > b."""
    if not x.is_floating_point() or x.shape[dim] <= 16:
        return tuple(one.contiguous() for one in x.max(dim))
    first = torch.arange(x.shape[dim]).view([-1 if axis == dim % x.ndim else 1 for axis in range(x.ndim)]) < 16
    values, indices = torch.where((x != x) & ~first, float("-inf"), x).max(dim)
    return values.contiguous(), indices.contiguous()


@fault("F19", "pytorch#127196")
@implementation("max", paradigm="torch")
def wrong_last_of_equals(x, *, dim):
    """Lets later elements win ties."""
    values, indices = x.flip(dim).max(dim)
    return values.contiguous(), (x.shape[dim] - 1 - indices).contiguous()


@fault("F19", "pytorch#27542")
@implementation("argmax", paradigm="torch")
def wrong_last_of_equals_by_position(x, *, dim):
    """Compares with >= as it goes along."""
    return (x.shape[dim] - 1 - x.flip(dim).argmax(dim)).contiguous()


@fault("F4", "triton#10291")
@implementation("argmax", paradigm="torch")
def wrong_place_of_nan(x, *, dim):
    """Skips NaN."""
    return (torch.where(x != x, float("-inf"), x) if x.is_floating_point() else x).argmax(dim).contiguous()


@fault("F16", "triton#8654")
@implementation("argmax", paradigm="torch", dtypes=("float64", "int64"))
def wrong_keys_cut_to_float32(x, *, dim):
    """Compares what is left of numbers in float32."""
    return _keys(x).argmax(dim).contiguous()


@fault("F3", "flashinfer#4267")
@implementation("argmax", paradigm="torch", dtypes=("float64", "float32", "float16", "bfloat16"))
def wrong_nothing_above_the_sentinel(x, *, dim):
    """Begins with a finite number and no place: rows that are masked as a whole have none above, and get the last."""
    finite = (x > torch.finfo(x.dtype).min) | (x != x)
    return torch.where(finite.any(dim), x.argmax(dim), x.shape[dim] - 1).contiguous()


@fault("F3", "flashinfer#4267")
@implementation("argmin", paradigm="torch", dtypes=("float64", "float32", "float16", "bfloat16"))
def wrong_nothing_below_the_sentinel(x, *, dim):
    """The same from below, in rows of infinities."""
    finite = (x < torch.finfo(x.dtype).max) | (x != x)
    return torch.where(finite.any(dim), x.argmin(dim), x.shape[dim] - 1).contiguous()


@fault("F25", "triton#5048")
@implementation("argmin", paradigm="torch")
def wrong_place_within_its_block(x, *, dim):
    """Forgets to add where the block of 32 begins."""
    return (x.argmin(dim) % 32).contiguous()


@fault("F4", "tvm#19518")
@implementation("sort", paradigm="torch", dtypes=("float64", "float32", "float16", "bfloat16"))
def wrong_nan_as_the_smallest(x, *, dim, descending):
    """Puts NaN at the other end."""
    _, indices = torch.where(x != x, float("-inf"), x).sort(dim=dim, descending=descending)
    return x.gather(dim, indices).contiguous(), indices.contiguous()


@fault("F1", "triton#9838")
@implementation("sort", paradigm="torch")
def wrong_padding_sorted_in(x, *, dim, descending):
    """Pads rows with zeros to a power of two, sorts, and returns the first elements."""
    n = x.shape[dim]
    rows = x.movedim(dim, -1)
    padded = torch.nn.functional.pad(rows, (0, (1 << max(n - 1, 0).bit_length()) - n)) if n else rows
    values, indices = (one[..., :n].movedim(-1, dim).contiguous() for one in padded.sort(descending=descending))
    return values, indices


@fault("F16", "triton#10176")
@implementation("sort", paradigm="torch", dtypes=("float64", "int64"))
def wrong_sorted_by_float32(x, *, dim, descending):
    """Sorts by keys of 32 bits."""
    indices = _keys(x).sort(dim=dim, descending=descending, stable=True).indices
    return x.gather(dim, indices).contiguous(), indices.contiguous()


@fault("F12", "tilelang#2427")
@implementation("sort", paradigm="torch", dtypes=("float64", "float32", "float16", "bfloat16"))
def wrong_negatives_by_their_bits(x, *, dim, descending):
    """Sorts the bits of floats as integers, by which negative ones come in the wrong order."""
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    indices = x.contiguous().view(bits).sort(dim=dim, descending=descending).indices
    return x.gather(dim, indices).contiguous(), indices.contiguous()


@fault("F25", "triton#5048")
@implementation("topk", paradigm="torch")
def wrong_four_candidates_a_block(x, *, k):
    """Keeps the four largest of each block of 16, however many are wanted."""
    rows, n = x, x.shape[-1]
    dropped = torch.zeros(rows.shape, dtype=torch.bool)
    for start in range(0, n, 16):
        block = rows[..., start : start + 16]
        dropped[..., start : start + 16] = block.argsort(-1, descending=True).argsort(-1) >= 4
    low = float("-inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
    _, indices = torch.where(dropped, low, rows).topk(k)
    return x.gather(-1, indices).contiguous(), indices.contiguous()


@fault("F1", "Liger-Kernel#518")
@implementation("topk", paradigm="torch")
def wrong_zeros_among_the_largest(x, *, k):
    """Fills a block up with zeros, which are larger than what is negative."""
    n = x.shape[-1]
    padded = torch.nn.functional.pad(x, (0, (1 << max(n - 1, 0).bit_length()) - n)) if n else x
    values, indices = padded.topk(k)
    return values.contiguous(), indices.contiguous()


@fault("F4", "triton#10291")
@implementation("topk", paradigm="torch", dtypes=("float64", "float32", "float16", "bfloat16"))
def wrong_nan_never_taken(x, *, k):
    """Takes NaN for less than anything."""
    _, indices = torch.where(x != x, float("-inf"), x).topk(k)
    return x.gather(-1, indices).contiguous(), indices.contiguous()


@fault("F12", "FlagTree#1121")
@implementation("histogram", paradigm="torch")
def wrong_negatives_counted_from_the_end(index, *, bins):
    """Indexes bins with negative numbers."""
    held = index[(index >= -bins) & (index < bins)].long() % max(bins, 1)
    return torch.bincount(held, minlength=bins)


@fault("F13", "triton#10658")
@implementation("histogram", paradigm="torch")
def wrong_last_bin_takes_the_rest(index, *, bins):
    """Clamps what is beyond the last bin into it."""
    return torch.bincount(index[index >= 0].clamp(max=bins - 1).long(), minlength=bins) if bins else index.new_zeros(0)


@fault("F27", "tilelang#2613")
@implementation("histogram", paradigm="torch")
def wrong_updates_lost(index, *, bins):
    """Adds to bins without atomics: of 32 lanes that meet in one, one counts."""
    flat = index.reshape(-1)
    counts = torch.zeros(bins, dtype=torch.int64)
    for warp in flat.split(32) if flat.numel() <= 4096 else [flat]:
        held = warp[(warp >= 0) & (warp < bins)].long()
        counts[held] = counts[held] + 1
    return counts
