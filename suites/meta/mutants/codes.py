"""Integers, casts and quantization gone wrong: signs, rounding, saturation, packed halves, float8 codes."""

import torch

from kernels import implementation
from kernels.quantize_fp8 import FORMATS
from suites.meta.mutants import fault


def _divisor(y):
    return torch.where(y == 0, 1, y)


@fault("F11", "triton#619")
@implementation("floor_divide", paradigm="torch")
def wrong_truncates(x, y):
    """Divides as C does."""
    return torch.div(x, _divisor(y), rounding_mode="trunc").contiguous()


@fault("F16", "triton#8654")
@implementation("floor_divide", paradigm="torch")
def wrong_through_float32(x, y):
    """Divides in float32, of which large numbers have too many bits."""
    return (x.float() / _divisor(y).float()).floor().to(x.dtype).contiguous()


@fault("F11", "FlagGems#204")
@implementation("remainder", paradigm="torch")
def wrong_sign_of_the_dividend(x, y):
    """The remainder of truncated division."""
    return torch.fmod(x, _divisor(y)).contiguous()


@fault("F11", "tilelang-ascend#1764")
@implementation("remainder", paradigm="torch", dtypes=("int64", "int32", "int8"))
def wrong_absolute_value(x, y):
    """Adds the divisor to negative remainders, whatever sign it has."""
    rest = torch.fmod(x, _divisor(y))
    return torch.where(rest < 0, rest + _divisor(y).abs(), rest).contiguous()


@fault("F12", "tilelang#2427")
@implementation("shift_right", paradigm="torch", dtypes=("int64", "int32", "int8"))
def wrong_logical_shift(x, y):
    """Fills in zeros."""
    bits = 8 * x.element_size()
    kept = torch.where(y > 0, (torch.ones_like(x) << (bits - _divisor(y)).clamp(max=bits - 1)) - 1, -1)
    return ((x >> y) & kept).contiguous()


@fault("F11", "triton#619")
@implementation("shift_right", paradigm="torch", dtypes=("int64", "int32", "int8"))
def wrong_division_by_a_power(x, y):
    """Divides by a power of two toward zero."""
    shifted = x >> y
    lost = (x < 0) & ((shifted << y) != x)
    return (shifted + lost.to(x.dtype)).contiguous()


@fault("F12", "FBGEMM#5705")
@implementation("unpack_int4", paradigm="torch")
def wrong_sign_not_extended(packed):
    """Leaves halves as 0 to 15."""
    return torch.stack([packed & 15, packed >> 4], -1).flatten(-2).to(torch.int8)


@fault("F12", "FlagTree#1121")
@implementation("unpack_int4", paradigm="torch")
def wrong_upper_half_first(packed):
    """Takes the halves in the other order."""
    halves = torch.stack([packed >> 4, packed & 15], -1).flatten(-2).to(torch.int8)
    return torch.where(halves > 7, halves - 16, halves)


@fault("F18", "bitsandbytes#1885")
@implementation("unpack_int4", paradigm="torch")
def wrong_bytes_beyond_whole_words(packed):
    """Unpacks words of four bytes, and zeros for what is left of a row."""
    halves = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).to(torch.int8)
    halves = torch.where(halves > 7, halves - 16, halves)
    whole = packed.shape[-1] // 4 * 8
    if packed.shape[-1] > 4:
        halves[..., whole:] = 0
    return halves


@fault("F24", "triton#10945")
@implementation("cast", paradigm="torch")
def wrong_truncates_to_bfloat16(x, *, dtype):
    """Cuts float32 to the upper half of its bits."""
    if dtype != "bfloat16" or x.dtype != torch.float32:
        return x.to(getattr(torch, dtype)).contiguous()
    return (x.contiguous().view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)


@fault("F14", "tilelang#2702")
@implementation("cast", paradigm="torch", dtypes=("float8_e4m3fn", "float8_e5m2"))
def wrong_leading_one_always(x, *, dtype):
    """Decodes subnormal numbers of float8 as if they had an implicit leading one."""
    numbers = x.float().contiguous()
    bits, bias = (3, 7) if x.dtype == torch.float8_e4m3fn else (2, 15)
    codes = x.contiguous().view(torch.uint8).int()
    low = (codes & (0x7F >> bits << bits)) == 0
    taken = torch.where(codes > 127, -1.0, 1.0) * (1 + (codes & ((1 << bits) - 1)) / 2**bits) * 2.0**-bias
    return torch.where(low & (numbers != 0), taken, numbers).to(getattr(torch, dtype))


@fault("F14", "tilelang#2702")
@implementation("cast", paradigm="torch", dtypes=("float8_e4m3fn",))
def wrong_nan_is_a_number(x, *, dtype):
    """Takes the code of NaN for the number after 448."""
    numbers = x.float().contiguous()
    negative = x.contiguous().view(torch.uint8) > 127
    numbers = torch.where(numbers != numbers, torch.where(negative, -480.0, 480.0), numbers)
    return numbers.to(getattr(torch, dtype))


@fault("F13", "pytorch#180159")
@implementation("cast", paradigm="torch", dtypes=("int64", "int32"))
def wrong_saturates_integers(x, *, dtype):
    """Clamps where integers wrap around."""
    target = getattr(torch, dtype)
    if not target.is_floating_point:
        x = x.clamp(torch.iinfo(target).min, torch.iinfo(target).max)
    return x.to(target).contiguous()


@fault("F16", "triton#10176")
@implementation("cast", paradigm="torch", dtypes=("float64", "int64"))
def wrong_by_way_of_float32(x, *, dtype):
    """Goes through float32 to wherever it goes."""
    target = getattr(torch, dtype)
    return (x.float() if target in (torch.float64, torch.int32) else x).to(target).contiguous()


@fault("F20", "pytorch#181801")
@implementation("cast", paradigm="torch", dtypes=("float32", "float64", "float16", "bfloat16"))
def wrong_rounds_to_integers(x, *, dtype):
    """Rounds where it should truncate."""
    target = getattr(torch, dtype)
    return (x if target.is_floating_point else x.round()).to(target).contiguous()


@fault("F19", "none: round half away from zero, as C's round has it")
@implementation("round", paradigm="torch")
def wrong_half_away_from_zero(x):
    """Rounds ties away from zero."""
    return torch.where((x - x.trunc()).abs() == 0.5, x.trunc() + x.sign(), torch.round(x)).contiguous()


@fault("F13", "triton#10658")
@implementation("round", paradigm="torch")
def wrong_through_int32(x):
    """Goes through an integer of 32 bits."""
    return torch.round(x).to(torch.int32).to(x.dtype).contiguous()


def _scaled(x, scale):
    return x.float() / scale[..., None]


@fault("F13", "pytorch#180159")
@implementation("quantize_int8", paradigm="torch")
def wrong_wraps_around(x, scale):
    """Casts to eight bits without a clamp."""
    whole = torch.round(_scaled(x, scale)).nan_to_num().clamp(-(2.0**31), 2.0**31 - 128)
    return whole.to(torch.int32).to(torch.int8).contiguous()


@fault("F13", "triton#10658")
@implementation("quantize_int8", paradigm="torch")
def wrong_symmetric_range(x, scale):
    """Saturates at -127."""
    return torch.round(_scaled(x, scale)).clamp(-127, 127).to(torch.int8).contiguous()


@fault("F19", "none: round half away from zero, as C's round has it")
@implementation("quantize_int8", paradigm="torch")
def wrong_half_away(x, scale):
    """Adds a half and cuts off."""
    scaled = _scaled(x, scale)
    return (scaled + 0.5 * scaled.sign()).trunc().clamp(-128, 127).to(torch.int8).contiguous()


@fault("F18", "bitsandbytes#1885")
@implementation("quantize_int8", paradigm="torch")
def wrong_scale_of_another_row(x, scale):
    """Takes one scale for each two rows."""
    flat = scale.reshape(-1)
    pair = flat[torch.arange(flat.numel()) // 2 * 2].reshape(scale.shape)
    return torch.round(_scaled(x, pair)).clamp(-128, 127).to(torch.int8).contiguous()


@fault("F13", "pytorch#180159")
@implementation("quantize_fp8", paradigm="torch")
def wrong_not_saturated(x, scale, *, format):
    """Casts without a clamp, so that large numbers become NaN or infinities."""
    return _scaled(x, scale).to(getattr(torch, FORMATS[format])).contiguous()


@fault("F14", "tilelang#2702")
@implementation("quantize_fp8", paradigm="torch")
def wrong_subnormals_flushed(x, scale, *, format):
    """Has zero where the format has subnormal numbers."""
    dtype = getattr(torch, FORMATS[format])
    held = _scaled(x, scale).clamp(-torch.finfo(dtype).max, torch.finfo(dtype).max)
    return torch.where(held.abs() < torch.finfo(dtype).tiny, 0.0, held).to(dtype).contiguous()


@fault("F24", "triton#11584")
@implementation("quantize_fp8", paradigm="torch")
def wrong_truncated(x, scale, *, format):
    """Cuts numbers to the bits of the format."""
    dtype = getattr(torch, FORMATS[format])
    held = _scaled(x, scale).clamp(-torch.finfo(dtype).max, torch.finfo(dtype).max)
    near = held.to(dtype).contiguous()
    codes = near.view(torch.uint8)
    return torch.where(near.float().abs() > held.abs(), codes - 1, codes).view(dtype)


@fault("F14", "tilelang#2702")
@implementation("fp8_gemm", paradigm="torch")
def wrong_subnormals_taken_for_zero(a, b, scale_a, scale_b):
    """Decodes subnormal numbers of float8 as zero."""
    a, b = (torch.where(x.float().abs() < 2.0**-6, 0.0, x.float()) for x in (a, b))
    return (a @ b * scale_a[:, None] * scale_b).to(torch.bfloat16)


@fault("F15", "aotriton#179")
@implementation("fp8_gemm", paradigm="torch")
def wrong_sums_in_float16(a, b, scale_a, scale_b):
    """Accumulates blocks of 32 in float16."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float16)
    for k in range(0, a.shape[1], 32):
        total = total + (a[:, k : k + 32].float() @ b[k : k + 32].float()).half()
    return (total.float() * scale_a[:, None] * scale_b).to(torch.bfloat16)


@fault("index", "none: scales of rows and of columns, of one length where matrices are square")
@implementation("fp8_gemm", paradigm="torch")
def wrong_scale_of_the_first_column(a, b, scale_a, scale_b):
    """Has one scale for all columns of a tile of 16."""
    tile = torch.arange(len(scale_b)) // 16 * 16
    return (a.float() @ b.float() * scale_a[:, None] * scale_b[tile]).to(torch.bfloat16)
