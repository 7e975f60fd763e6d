"""What is moved, gathered, scattered, scanned and summed wrongly: rows, strides, carries, duplicates, tails."""

import torch

from kernels import implementation
from kernels.toolchains.torch import wide
from suites.meta.mutants import fault


def _near(x):
    """Return ``x`` as a kernel sees it that forgets the strides: its elements one behind the other, if they fit."""
    if (x.storage_offset() + x.numel()) * x.element_size() > x.untyped_storage().nbytes():
        return x
    return torch.as_strided(x, x.shape, torch.empty(x.shape).stride(), x.storage_offset())


@fault("F25", "triton#5048")
@implementation("transpose", paradigm="torch")
def wrong_edges_of_the_other_axis(x):
    """Guards tiles of 16 by the sizes of the input, also where the output's count."""
    out = torch.empty(*x.shape[:-2], x.shape[-1], x.shape[-2], dtype=x.dtype)
    high, wide_ = x.shape[-2:]
    for i in range(0, high, 16) if high < 2000 else [0]:
        rows = slice(i, i + 16 if high < 2000 else high)
        ends = wide_ if i + 16 <= high or wide_ <= high else wide_ - (wide_ - high) % 16
        out[..., :ends, rows] = x[..., rows, :ends].transpose(-1, -2)
    return out


@fault("F7", "pytorch#118115")
@implementation("transpose", paradigm="torch")
def wrong_transposes_the_storage(x):
    """Reads the storage as if the input were contiguous."""
    return _near(x).transpose(-1, -2).contiguous()


@fault("F22", "vllm-ascend#10138")
@implementation("transpose", paradigm="torch")
def wrong_rows_beyond_the_grid(x):
    """Starts 65535 rows of programs at most."""
    out = torch.empty(*x.shape[:-2], x.shape[-1], x.shape[-2], dtype=x.dtype)
    out[..., :65535] = x.transpose(-1, -2)[..., :65535]
    return out


@fault("F6", "LightLLM#1467")
@implementation("embedding", paradigm="torch")
def wrong_pitch_of_the_table(table, index):
    """Takes the rows of the table to be as far apart as they are long."""
    return _near(table)[index].contiguous()


@fault("F25", "triton#5048")
@implementation("embedding", paradigm="torch")
def wrong_columns_beyond_a_block(table, index):
    """Copies whole blocks of 8 columns where there are several."""
    out = torch.empty(*index.shape, table.shape[1], dtype=table.dtype)
    whole = table.shape[1] // 8 * 8 if table.shape[1] > 8 else table.shape[1]
    out[..., :whole] = table[index][..., :whole]
    return out


@fault("F9", "FBGEMM#5705")
@implementation("embedding", paradigm="torch")
def wrong_index_of_16_bits(table, index):
    """Keeps indices in 16 bits with a sign."""
    return table[(index & 0x7FFF).clamp(max=max(table.shape[0] - 1, 0))].contiguous()


@fault("F7", "pytorch#192212")
@implementation("index_copy", paradigm="torch")
def wrong_index_taken_for_neighbours(x, index, src):
    """Reads the index without its stride."""
    out = x.contiguous().clone()
    out[_near(index).clamp(0, max(x.shape[0] - 1, 0))] = src
    return out


@fault("inputs", "InfiniCore#1207")
@implementation("index_copy", paradigm="torch")
def wrong_written_in_place(x, index, src):
    """Writes the rows into x, and copies that."""
    if 0 not in x.stride():
        x[index] = src
        return x.contiguous().clone()
    return torch.index_copy(x.contiguous(), 0, index, src)


@fault("F10", "flash-linear-attention#892")
@implementation("index_copy", paradigm="torch")
def wrong_untouched_rows_unwritten(x, index, src):
    """Copies the rows up to the last that is replaced."""
    out = torch.empty(x.shape, dtype=x.dtype)
    last = int(index.max()) + 1 if index.numel() else x.shape[0]
    out[:last] = torch.index_copy(x.contiguous(), 0, index, src)[:last]
    return out


@fault("F27", "tilelang#2872")
@implementation("scatter_add", paradigm="torch")
def wrong_last_of_duplicates(x, index, src):
    """Adds without atomics: of rows with one target the last is added."""
    out = x.contiguous().clone()
    out[index] = (wide(x[index]) + wide(src)).to(x.dtype) if x.is_floating_point() else x[index] + src
    return out


@fault("F15", "aotriton#179")
@implementation("scatter_add", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_rounded_at_every_addition(x, index, src):
    """Adds in the narrow type, and declares nothing."""
    out = x.contiguous().clone()
    for row, place in enumerate(index.tolist()):
        out[place] += src[row]
    return out


@fault("F31", "libtriton_jit#51")
@implementation("scatter_add", paradigm="torch")
def wrong_program_run_twice(x, index, src):
    """Has 40 programs, and where there are more the first runs again."""
    again = min(max(len(index) - 40, 0), 1)
    twice = torch.cat([index, index[:again]]), torch.cat([src, src[:again]])
    exact = wide if x.is_floating_point() else (lambda tensor: tensor)
    return torch.index_add(exact(x).contiguous(), 0, twice[0], exact(twice[1])).to(x.dtype)


@fault("F17", "ROCm/triton#947")
@implementation("cumsum", paradigm="torch")
def wrong_carry_of_the_block_before(x, *, dim, reverse):
    """Adds the sum of the block of 32 before, and not of all blocks before."""
    rows = (x.flip(dim) if reverse else x).movedim(dim, -1)
    rows = wide(rows) if x.is_floating_point() else rows
    out, before = torch.empty(rows.shape, dtype=rows.dtype), torch.zeros((), dtype=rows.dtype)
    for start in range(0, rows.shape[-1], 32) if rows.shape[-1] else []:
        block = rows[..., start : start + 32]
        out[..., start : start + 32] = block.cumsum(-1) + before
        before = block.sum(-1, keepdim=True)
    out = out.movedim(-1, dim).to(x.dtype)
    return (out.flip(dim) if reverse else out).contiguous()


@fault("F17", "triton#4362")
@implementation("cumsum", paradigm="torch")
def wrong_reverse_of_odd_lengths(x, *, dim, reverse):
    """Turns rows around by swapping pairs from both ends of an even length."""
    exact = wide(x) if x.is_floating_point() else x
    if not reverse:
        return exact.cumsum(dim).to(x.dtype).contiguous()
    out = exact.flip(dim).cumsum(dim).flip(dim)
    if x.shape[dim] % 2 and x.shape[dim] > 1:
        out = torch.cat([out.narrow(dim, 1, x.shape[dim] - 1), out.narrow(dim, x.shape[dim] - 1, 1)], dim)
    return out.to(x.dtype).contiguous()


@fault("F15", "aotriton#179")
@implementation("cumsum", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_running_sum_in_the_narrow_type(x, *, dim, reverse):
    """Rounds the running sum to the type of the input at every step."""
    rows = (x.flip(dim) if reverse else x).movedim(dim, 0)
    out, total = torch.empty(rows.shape, dtype=x.dtype), torch.zeros(rows.shape[1:], dtype=x.dtype)
    for step, row in enumerate(rows):
        total = total + row
        out[step] = total
    out = out.movedim(0, dim)
    return (out.flip(dim) if reverse else out).contiguous()


@fault("F17", "triton#2359")
@implementation("linear_scan", paradigm="torch")
def wrong_operands_swapped(a, b):
    """Combines two halves in the other order, which matters where steps do not commute."""
    steps, states = wide(a).clone(), wide(b).clone()
    reach = 1
    while reach < a.shape[-1]:
        ahead, behind = slice(reach, None), slice(None, -reach)
        states[..., ahead] = steps[..., behind] * states[..., ahead] + states[..., behind]
        steps[..., ahead] = steps[..., ahead] * steps[..., behind]
        reach *= 2
    return states.to(b.dtype).contiguous()


@fault("F17", "ROCm/triton#947")
@implementation("linear_scan", paradigm="torch")
def wrong_state_lost_between_blocks(a, b):
    """Begins every block of 64 with a state of 0."""
    out = torch.empty(b.shape, dtype=b.dtype)
    state = torch.zeros(b.shape[:-1], dtype=wide(b).dtype)
    for step in range(b.shape[-1]):
        state = wide(b)[..., step] + (wide(a)[..., step] * state if step % 64 else 0)
        out[..., step] = state.to(b.dtype)
    return out


@fault("F18", "tilelang#2099")
@implementation("sum", paradigm="torch")
def wrong_half_of_a_wide_warp(x, *, dim):
    """Of 64 lanes adds up those that a warp of 32 has, if a row does not fill more."""
    rows = x.movedim(dim, -1)
    rows = rows[..., :32] if 32 < rows.shape[-1] <= 64 else rows
    return (wide(rows).sum(-1).to(x.dtype) if x.is_floating_point() else rows.sum(-1)).contiguous()


@fault("F15", "aotriton#179")
@implementation("sum", paradigm="torch", dtypes=("float16", "bfloat16"))
def wrong_narrow_accumulator(x, *, dim):
    """Carries the sum from block to block of 16 in the type of the input."""
    total = torch.zeros([size for axis, size in enumerate(x.shape) if axis != dim % x.ndim], dtype=x.dtype)
    for part in x.split(16, dim):
        total = total + wide(part).sum(dim).to(x.dtype)
    return total


@fault("F21", "FlagGems#6278")
@implementation("sum", paradigm="torch")
def wrong_empty_axis_unwritten(x, *, dim):
    """Returns early where the input has no elements, though the result may have some."""
    out = torch.empty([size for axis, size in enumerate(x.shape) if axis != dim % x.ndim], dtype=x.dtype)
    if x.numel():
        out.copy_(wide(x).sum(dim) if x.is_floating_point() else x.sum(dim))
    return out


@fault("F21", "FlagGems#5953")
@implementation("cumsum", paradigm="torch")
def wrong_empty_axis_divided_by(x, *, dim, reverse):
    """Takes the number of rows for the elements over their length, whatever it is."""
    rows = x.numel() // x.shape[dim]
    exact = wide(x) if x.is_floating_point() else x
    exact = exact.flip(dim) if reverse and rows >= 0 else exact
    out = exact.cumsum(dim)
    return (out.flip(dim) if reverse else out).to(x.dtype).contiguous()


@fault("F22", "flashinfer#3125")
@implementation("sum", paradigm="torch")
def wrong_rows_past_the_grid(x, *, dim):
    """Has 65535 programs at most."""
    total = (wide(x).sum(dim).to(x.dtype) if x.is_floating_point() else x.sum(dim)).contiguous()
    if total.numel() > 65535:
        total.view(-1)[65535:] = 0
    return total


@fault("F30", "FlagTree#981")
@implementation("sum", paradigm="torch")
def wrong_half_of_the_first_row(x, *, dim):
    """The first program leaves its loop half way, where a loop takes more than 16 steps."""
    rows = x.movedim(dim, -1)
    exact = wide(rows) if x.is_floating_point() else rows
    total = exact.sum(-1)
    if total.numel() and rows.shape[-1] > 16:
        total.view(-1)[0] = exact.reshape(-1, rows.shape[-1])[0, : rows.shape[-1] // 2].sum()
    return total.to(x.dtype).contiguous()


@fault("F28", "triton#10590")
@implementation("sum", paradigm="torch")
def wrong_now_and_then(x, *, dim):
    """Every seventh call adds an element twice, as when a block is read before it is there."""
    global _calls
    _calls += 1
    exact = wide(x) if x.is_floating_point() else x
    total = exact.sum(dim)
    if _calls % 7 == 0 and x.shape[dim] > 1:
        total = total + exact.select(dim, 1)
    return total.to(x.dtype).contiguous()


_calls = 0


@fault("F8", "triton#4217")
@implementation("add", paradigm="torch")
def wrong_first_call_adds_twice(x, y):
    """A tuner tries a body that accumulates, and whose output is not reset, twice on the first call of a size."""
    key = (x.shape, y.shape)
    out = x + y
    if key not in _TUNED and out.numel() > 1:
        _TUNED.add(key)
        out = out + y
    return out.contiguous()


_TUNED: set = set()


@fault("F8", "triton#9230")
@implementation("add", paradigm="torch")
def wrong_configuration_for_long_rows(x, y):
    """The configuration that is chosen for rows of more than 256 elements writes half of a row."""
    result = x + y
    out = torch.empty(result.shape, dtype=result.dtype)
    if result.ndim and result.shape[-1] > 256:
        out[..., : result.shape[-1] // 2] = result[..., : result.shape[-1] // 2]
        return out
    return out.copy_(result)
