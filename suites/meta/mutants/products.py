"""Products and attention gone wrong: tiles, groups, biases, taps, lengths, pages, masks."""

from itertools import pairwise

import torch
from torch.nn import functional

from kernels import implementation
from kernels.scaled_dot_product import visible
from kernels.toolchains.torch import attended, gradients, wide
from suites.meta.mutants import fault


@fault("F26", "tilelang#2668")
@implementation("gemm", paradigm="torch")
def wrong_prefetched_over_the_tile_in_use(a, b):
    """Has two buffers for three tiles of 32 in flight: the last tile but one is read when the last is there."""
    tiles = list(range(0, a.shape[-1], 32))
    if len(tiles) > 2:
        tiles[-2] = tiles[-3]
    total = torch.zeros(*a.shape[:-1], b.shape[-1], dtype=wide(a).dtype)
    for k in tiles:
        total += wide(a[..., k : k + 32]) @ wide(b[..., k : k + 32, :])
    return total.to(a.dtype)


@fault("F27", "tilelang#2613")
@implementation("gemm", paradigm="torch")
def wrong_tile_of_the_step_before(a, b):
    """Waits for a's tile and not for b's, which is now and then that of the step before."""
    total = torch.zeros(*a.shape[:-1], b.shape[-1], dtype=wide(a).dtype)
    for k in range(0, a.shape[-1], 64):
        late = k - 64 if k and k // 64 % 4 == 1 and k + 64 <= a.shape[-1] else k
        total += wide(a[..., k : k + 64]) @ wide(b[..., late : late + 64, :])
    return total.to(a.dtype)


@fault("F15", "aotriton#179")
@implementation("gemm", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_sums_of_tiles_rounded(a, b):
    """Keeps what tiles of 64 sum up to in the type of the input."""
    total = torch.zeros(*a.shape[:-1], b.shape[-1], dtype=a.dtype)
    for k in range(0, a.shape[-1], 64):
        total = (wide(total) + wide(a[..., k : k + 64]) @ wide(b[..., k : k + 64, :])).to(a.dtype)
    return total


@fault("F6", "LightLLM#1467")
@implementation("gemm", paradigm="torch")
def wrong_pitch_of_the_second_operand(a, b):
    """Takes the rows of b to be as far apart as they are long."""
    near = b
    if b.numel() and (b.storage_offset() + b.numel()) * b.element_size() <= b.untyped_storage().nbytes():
        near = torch.as_strided(b, b.shape, torch.empty(b.shape).stride(), b.storage_offset())
    return (wide(a) @ wide(near)).to(a.dtype)


@fault("F21", "FlagGems#6278")
@implementation("gemm", paradigm="torch")
def wrong_nothing_to_add_up(a, b):
    """Returns early when an operand is empty, and leaves the result as memory was."""
    out = torch.empty(*a.shape[:-1], b.shape[-1], dtype=a.dtype)
    return out.copy_(wide(a) @ wide(b)) if a.numel() else out


@fault("F22", "flash-linear-attention#172")
@implementation("gemm", paradigm="torch")
def wrong_rows_past_the_grid(a, b):
    """Has 65535 rows of programs at most."""
    out = torch.empty(*a.shape[:-1], b.shape[-1], dtype=a.dtype)
    out[..., :65535, :] = (wide(a[..., :65535, :]) @ wide(b)).to(a.dtype)
    return out


@fault("F24", "triton#11584")
@implementation("gemm_bias", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_bias_after_rounding(a, b, bias):
    """Rounds the product, and then again what it is with the bias."""
    return (wide(a) @ wide(b)).to(a.dtype) + bias


@fault("index", "none: a bias by rows, where matrices are square")
@implementation("gemm_bias", paradigm="torch")
def wrong_bias_of_the_row(a, b, bias):
    """Adds the bias along the other axis where it fits."""
    square = a.shape[0] == b.shape[1]
    return (wide(a) @ wide(b) + wide(bias[:, None] if square else bias.flip(0))).to(a.dtype)


@fault("F31", "libtriton_jit#51")
@implementation("gemm_bias", paradigm="torch")
def wrong_bias_of_every_split(a, b, bias):
    """Splits K in pieces of 128, each of which adds the bias."""
    pieces = max(-(-a.shape[1] // 128), 1)
    return (wide(a) @ wide(b) + pieces * wide(bias)).to(a.dtype)


@fault("F10", "grouped_gemm#36")
@implementation("grouped_gemm", paradigm="torch")
def wrong_empty_groups_skipped(x, w, group_sizes):
    """Leaves empty groups out of the list, and their matrices in."""
    sizes = [size for size in group_sizes.tolist() if size]
    groups = torch.split(wide(x), sizes) if sizes else ()
    parts = [rows @ matrix for rows, matrix in zip(groups, wide(w), strict=False)]
    return torch.cat(parts).to(x.dtype) if parts else x.new_zeros(x.shape[0], w.shape[2])


@fault("F10", "flash-linear-attention#892")
@implementation("grouped_gemm", paradigm="torch")
def wrong_tail_of_a_group_unwritten(x, w, group_sizes):
    """Writes whole tiles of 16 rows of each group that has more."""
    out, start = torch.empty(x.shape[0], w.shape[2], dtype=x.dtype), 0
    for size, matrix in zip(group_sizes.tolist(), wide(w), strict=True):
        whole = size // 16 * 16 if size > 16 else size
        out[start : start + whole] = (wide(x[start : start + whole]) @ matrix).to(x.dtype)
        start += size
    return out


@fault("F18", "tilelang#2099")
@implementation("dequant_gemm", paradigm="torch")
def wrong_group_of_32(a, packed, scales, zeros, *, bits, group_size):
    """Takes groups to be 32 rows long."""
    codes = packed if bits == 8 else torch.stack([packed & 15, packed >> 4], 1).flatten(0, 1)
    group = (torch.arange(codes.shape[0]) // 32).clamp(max=max(scales.shape[0] - 1, 0))
    weights = (codes.double() - zeros.double()[group]) * scales.double()[group]
    return (a.double() @ weights.to(a.dtype).double()).to(a.dtype)


@fault("F12", "FBGEMM#5705")
@implementation("dequant_gemm", paradigm="torch")
def wrong_codes_with_a_sign(a, packed, scales, zeros, *, bits, group_size):
    """Takes bytes for signed ones."""
    codes = packed.view(torch.int8) if bits == 8 else torch.stack([packed & 15, packed >> 4], 1).flatten(0, 1)
    group = torch.arange(codes.shape[0]) // group_size
    weights = (codes.double() - zeros.double()[group]) * scales.double()[group]
    return (a.double() @ weights.to(a.dtype).double()).to(a.dtype)


@fault("formula", "none: a convolution, which turns its kernel around")
@implementation("conv2d", paradigm="torch")
def wrong_kernel_turned_around(x, weight, *, stride, padding):
    """Convolves as mathematicians do."""
    return functional.conv2d(wide(x), wide(weight).flip(2, 3), stride=stride, padding=padding).to(x.dtype).contiguous()


@fault("F7", "pytorch#181133")
@implementation("conv2d", paradigm="torch")
def wrong_weight_walked_flat(x, weight, *, stride, padding):
    """Walks over the storage of the weight."""
    near = weight
    if (weight.storage_offset() + weight.numel()) * weight.element_size() <= weight.untyped_storage().nbytes():
        near = torch.as_strided(weight, weight.shape, torch.empty(weight.shape).stride(), weight.storage_offset())
    return functional.conv2d(wide(x), wide(near), stride=stride, padding=padding).to(x.dtype).contiguous()


@fault("F1", "triton#9838")
@implementation("conv2d", paradigm="torch")
def wrong_edge_repeated(x, weight, *, stride, padding):
    """Clamps coordinates instead of masking them, so that padding holds the nearest pixels."""
    if not padding or not x.numel():
        return functional.conv2d(wide(x), wide(weight), stride=stride, padding=padding).to(x.dtype).contiguous()
    padded = functional.pad(wide(x), (padding,) * 4, mode="replicate")
    return functional.conv2d(padded, wide(weight), stride=stride).to(x.dtype).contiguous()


def _seen(q, k, causal, window):
    return torch.from_numpy(visible(q.shape[2], k.shape[2], causal=causal, window=window))


@fault("F15", "aotriton#179")
@implementation("attention", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_scores_in_the_narrow_type(q, k, v, *, causal, scale, softcap, window):
    """Rounds scores before their softmax."""
    keys, values = (wide(x).repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = (wide(q) @ keys.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)).to(q.dtype)
    scores = softcap * torch.tanh(wide(scores) / softcap) if softcap is not None else wide(scores)
    weights = torch.softmax(scores.masked_fill(~_seen(q, k, causal, window), float("-inf")), -1)
    return (weights @ values).to(q.dtype)


@fault("F3", "flashinfer#4267")
@implementation("attention", paradigm="torch")
def wrong_masked_by_a_finite_number(q, k, v, *, causal, scale, softcap, window):
    """Adds -100 to what is not seen."""
    keys, values = (x.double().repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q.double() @ keys.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = softcap * torch.tanh(scores / softcap) if softcap is not None else scores
    scores = scores - 100.0 * ~_seen(q, k, causal, window)
    return (torch.softmax(scores, -1) @ values).to(q.dtype)


@fault("formula", "none: a cap before or after the scale")
@implementation("attention", paradigm="torch")
def wrong_cap_before_scale(q, k, v, *, causal, scale, softcap, window):
    """Caps products, and scales what is capped."""
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    cap = None if softcap is None else softcap * factor
    return attended(q.double(), k.double(), v.double(), _seen(q, k, causal, window), scale=scale, softcap=cap).to(
        q.dtype
    )


@fault("index", "none: windows that count the query's own place, or do not")
@implementation("attention", paradigm="torch")
def wrong_window_wider_by_one(q, k, v, *, causal, scale, softcap, window):
    """Sees keys that are as far away as the window is wide."""
    wider = None if window is None else window + 1
    return attended(q, k, v, _seen(q, k, causal, wider), scale=scale, softcap=softcap)


@fault("F26", "tilelang-ascend#949")
@implementation("attention", paradigm="torch")
def wrong_sums_not_rescaled(q, k, v, *, causal, scale, softcap, window):
    """Takes keys in blocks of 32 and forgets to fade earlier sums when the maximum grows."""
    heads = q.shape[1] // k.shape[1]
    keys, values = (x.double().repeat_interleave(heads, 1) for x in (k, v))
    seen = _seen(q, k, causal, window)
    scores = q.double() @ keys.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = softcap * torch.tanh(scores / softcap) if softcap is not None else scores
    scores = scores.masked_fill(~seen, float("-inf"))
    peaks = torch.cat([scores[..., i : i + 32].amax(-1, keepdim=True).expand(*scores.shape[:-1], min(32, scores.shape[-1] - i)) for i in range(0, scores.shape[-1], 32)], -1).cummax(-1).values  # fmt: skip  # noqa: E501
    powers = (scores - torch.where(peaks == float("-inf"), 0.0, peaks)).exp()
    return (powers @ values / powers.sum(-1, keepdim=True)).to(q.dtype)


@fault("index", "none: a key more than is cached")
@implementation("decode_attention", paradigm="torch")
def wrong_one_key_too_many(q, k_cache, v_cache, lengths, *, scale):
    """Sees the key that lies at the length."""
    seen = torch.arange(k_cache.shape[2]) <= lengths[:, None]
    return _decoded(q, k_cache, v_cache, seen, scale)


@fault("F2", "intel-xpu-backend-for-triton#1125")
@implementation("decode_attention", paradigm="torch")
def wrong_nan_beyond_the_length(q, k_cache, v_cache, lengths, *, scale):
    """Multiplies values beyond the length by weights of 0, NaN too."""
    seen = torch.arange(k_cache.shape[2]) < lengths[:, None]
    return attended(q[:, :, None], k_cache, v_cache, seen[:, None, None], scale=scale)[:, :, 0].contiguous()


@fault("F25", "triton#5048")
@implementation("decode_attention", paradigm="torch")
def wrong_split_dropped(q, k_cache, v_cache, lengths, *, scale):
    """Leaves out the last piece of 64 keys where it is not whole."""
    whole = torch.where(lengths > 64, lengths // 64 * 64, lengths)
    return _decoded(q, k_cache, v_cache, torch.arange(k_cache.shape[2]) < whole[:, None], scale)


def _decoded(q, k, v, seen, scale):
    values = v.masked_fill(~seen[:, None, :, None], 0.0)
    return attended(q[:, :, None], k, values, seen[:, None, None], scale=scale)[:, :, 0].contiguous()


@fault("F18", "bitsandbytes#1885")
@implementation("decode_attention_int8", paradigm="torch")
def wrong_scale_of_each_other_key(q, k_cache, v_cache, k_scale, v_scale, lengths, *, scale):
    """Has one scale for every two keys."""
    shared = torch.arange(k_cache.shape[2]) // 2 * 2
    k, v = k_cache * k_scale[..., shared, None], v_cache * v_scale[..., None]
    return _decoded(q, k, v, torch.arange(k.shape[2]) < lengths[:, None], scale)


@fault("F12", "FlagTree#1121")
@implementation("decode_attention_int8", paradigm="torch")
def wrong_codes_without_a_sign(q, k_cache, v_cache, k_scale, v_scale, lengths, *, scale):
    """Takes the codes of values for unsigned ones."""
    k, v = k_cache * k_scale[..., None], v_cache.view(torch.uint8) * v_scale[..., None]
    return _decoded(q, k, v, torch.arange(k.shape[2]) < lengths[:, None], scale)


@fault("index", "none: a page table that is not read")
@implementation("paged_attention", paradigm="torch")
def wrong_pages_in_order(q, k_pages, v_pages, page_table, lengths, *, scale):
    """Takes the pages of a sequence to lie one behind the other from its first."""
    first = page_table[:, :1].clamp(min=0) + torch.arange(page_table.shape[1])
    return _paged(q, k_pages, v_pages, first.clamp(max=k_pages.shape[0] - 1), lengths, scale)


@fault("F25", "triton#5048")
@implementation("paged_attention", paradigm="torch")
def wrong_last_page_whole(q, k_pages, v_pages, page_table, lengths, *, scale):
    """Sees all of the last page."""
    page = k_pages.shape[1]
    return _paged(q, k_pages, v_pages, page_table, (lengths + page - 1) // page * page, scale)


@fault("index", "none: heads grouped otherwise in another library")
@implementation("paged_attention", paradigm="torch")
def wrong_head_of_the_pages(q, k_pages, v_pages, page_table, lengths, *, scale):
    """Takes the heads of the pages in turn."""
    turn = torch.arange(q.shape[1]) % k_pages.shape[2]
    return _paged(q, k_pages[:, :, turn], v_pages[:, :, turn], page_table, lengths, scale)


@fault("index", "none: scales of keys for those of values")
@implementation("paged_attention_int8", paradigm="torch")
def wrong_scales_of_the_keys(q, k_pages, v_pages, k_scale, v_scale, page_table, lengths, *, scale):
    """Multiplies values by the scales of their keys."""
    k, v = k_pages * k_scale[..., None], v_pages * k_scale[..., None]
    return _paged(q, k, v, page_table, lengths, scale)


def _paged(q, k_pages, v_pages, table, lengths, scale):
    slots = table.shape[1] * k_pages.shape[1]
    k, v = (pages[table.clamp(min=0).long()].flatten(1, 2).transpose(1, 2) for pages in (k_pages, v_pages))
    return _decoded(q, k, v, torch.arange(slots) < lengths[:, None], scale)


@fault("index", "none: masks of FlashAttention before 2.1")
@implementation("varlen_attention", paradigm="torch")
def wrong_aligned_at_the_top(q, k, v, cu_q, cu_k, *, causal, scale):
    """Lets the first query see the first key alone."""
    return _by_sequence(q, k, v, cu_q.tolist(), cu_k.tolist(), causal, scale, aligned=False)


@fault("F10", "flash-linear-attention#892")
@implementation("varlen_attention", paradigm="torch")
def wrong_last_sequence_unwritten(q, k, v, cu_q, cu_k, *, causal, scale):
    """Has a program for every sequence but the last, where there are three or more."""
    ends = slice(None, -1) if len(cu_q) > 3 else slice(None)
    return _by_sequence(q, k, v, cu_q.tolist()[ends], cu_k.tolist()[ends], causal, scale)


def _by_sequence(q, k, v, cu_q, cu_k, causal, scale, aligned=True):
    out = torch.empty(q.shape, dtype=q.dtype)
    for (first, last), (begin, end) in zip(pairwise(cu_q), pairwise(cu_k), strict=True):
        queries, keys = last - first, end - begin
        seen = torch.from_numpy(visible(queries, keys, causal=causal, offset=keys - queries if aligned else 0))
        query, key, value = (x.transpose(0, 1) for x in (q[first:last], k[begin:end], v[begin:end]))
        out[first:last] = attended(query, key, value, seen, scale=scale).transpose(0, 1)
    return out


@fault("F6", "unsloth#10617")
@implementation("attention_backward", paradigm="torch")
def wrong_gradient_of_the_last_head(grad, q, k, v, *, causal, scale, softcap, window):
    """Stores what a head of k and v gets from the last of its group, instead of adding it up."""
    groups = q.shape[1] // k.shape[1]
    every = [x.repeat_interleave(groups, 1) for x in (k, v)]
    seen = _seen(q, k, causal, window)

    def forward(query, key, value):
        weights = attended(query, key, value, seen | ~seen.any(-1, keepdim=True), scale=scale, softcap=softcap)
        return torch.where(seen.any(-1, keepdim=True), weights, 0)

    dq, dk, dv = gradients(forward, grad, q, *every)
    return dq, dk[:, groups - 1 :: groups].contiguous(), dv[:, groups - 1 :: groups].contiguous()


@fault("formula", "none: the slope of the cap")
@implementation("attention_backward", paradigm="torch")
def wrong_scale_left_out(grad, q, k, v, *, causal, scale, softcap, window):
    """Forgets the scale of scores in the gradient of q."""
    seen = _seen(q, k, causal, window)

    def forward(query, key, value):
        weights = attended(query, key, value, seen | ~seen.any(-1, keepdim=True), scale=scale, softcap=softcap)
        return torch.where(seen.any(-1, keepdim=True), weights, 0)

    dq, dk, dv = gradients(forward, grad, q, k, v)
    return (wide(dq) / (q.shape[-1] ** -0.5 if scale is None else scale)).to(q.dtype), dk, dv


@fault("formula", "none: pairs that are neighbours, as in GPT-J")
@implementation("rope", paradigm="torch")
def wrong_neighbours_turned(x, cos, sin):
    """Pairs elements with those beside them."""
    half = cos.shape[-1]
    turned, rest = wide(x[..., : 2 * half]), x[..., 2 * half :]
    even, odd = turned[..., ::2], turned[..., 1::2]
    pairs = torch.stack([even * wide(cos) - odd * wide(sin), odd * wide(cos) + even * wide(sin)], -1).flatten(-2)
    return torch.cat([pairs.to(x.dtype), rest], -1).contiguous()


@fault("F29", "triton#10743")
@implementation("rope", paradigm="torch")
def wrong_first_half_turned_already(x, cos, sin):
    """Turns the second half with a first half that has been written to."""
    half = cos.shape[-1]
    first, second, rest = wide(x).split([half, half, x.shape[-1] - 2 * half], -1)
    first = (first * wide(cos) - second * wide(sin)).to(x.dtype)
    return torch.cat([first, (second * wide(cos) + wide(first) * wide(sin)).to(x.dtype), rest.to(x.dtype)], -1)


@fault("F29", "triton#10743")
@implementation("rope", paradigm="torch")
def wrong_rest_unwritten(x, cos, sin):
    """Writes what is turned, and leaves the rest as memory was."""
    half, out = cos.shape[-1], torch.empty(x.shape, dtype=x.dtype)
    first, second = wide(x[..., : 2 * half]).chunk(2, -1) if half else (wide(x[..., :0]),) * 2
    out[..., :half] = (first * wide(cos) - second * wide(sin)).to(x.dtype)
    out[..., half : 2 * half] = (second * wide(cos) + first * wide(sin)).to(x.dtype)
    return out
