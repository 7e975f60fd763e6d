"""The words of OpenCL C that the kernels are written in, so that one text serves every element type.

A program is built with ``-DT_<type>``; the prelude then has ``T``, the type in memory; ``WIDE``, the type that it is
computed in; LOAD and STORE between the two, of one element or of four neighbours (LOAD4, STORE4, in ``WIDE4``); and
``PLUS``, a sum that wraps around where T is an integer. float16 and bfloat16 are storage only, and need no extension.
``place`` says where the element of a number lies in a strided tensor.
"""

from __future__ import annotations

PRELUDE = r"""
#ifdef T_bfloat16
// Rounded to nearest, ties to even; a NaN keeps its sign, and a bit that may not be rounded away.
ushort to_bfloat16(float value)
{
    const uint bits = as_uint(value);
    return isnan(value) ? (bits >> 16) | 0x40 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
}
#define T ushort
#define WIDE float
#define WIDE4 float4
#define LOAD(p, i) as_float((uint)(p)[i] << 16)
#define STORE(p, i, v) ((p)[i] = to_bfloat16(v))
#define LOAD4(p, i) as_float4(convert_uint4(vload4(0, (p) + (i))) << 16)
#define STORE4(p, i, v) store4_bfloat16(v, (p) + (i))
void store4_bfloat16(float4 v, __global ushort *p)
{
    vstore4((ushort4)(to_bfloat16(v.x), to_bfloat16(v.y), to_bfloat16(v.z), to_bfloat16(v.w)), 0, p);
}
#endif

#ifdef T_half
#define T half
#define WIDE float
#define WIDE4 float4
#define LOAD(p, i) vload_half(i, p)
#define STORE(p, i, v) vstore_half_rte(v, i, p)
#define LOAD4(p, i) vload_half4(0, (p) + (i))
#define STORE4(p, i, v) vstore_half4_rte(v, 0, (p) + (i))
#endif

#ifdef T_float
#define T float
#define WIDE4 float4
#endif
#ifdef T_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define T double
#define WIDE4 double4
#endif
#ifdef T_long
#define T long
#define WIDE4 long4
#define PLUS(a, b) as_long(as_ulong(a) + as_ulong(b))
#define PLUS4(a, b) as_long4(as_ulong4(a) + as_ulong4(b))
#endif
#ifdef T_int
#define T int
#define WIDE4 int4
#define PLUS(a, b) as_int(as_uint(a) + as_uint(b))
#define PLUS4(a, b) as_int4(as_uint4(a) + as_uint4(b))
#endif
#ifdef T_char
#define T char
#define WIDE4 char4
#define PLUS(a, b) as_char((uchar)(as_uchar(a) + as_uchar(b)))
#define PLUS4(a, b) as_char4(as_uchar4(a) + as_uchar4(b))
#endif

#ifndef WIDE
#define WIDE T
#define LOAD(p, i) (p)[i]
#define STORE(p, i, v) ((p)[i] = (v))
#define LOAD4(p, i) vload4(0, (p) + (i))
#define STORE4(p, i, v) vstore4(v, 0, (p) + (i))
#endif
#ifndef PLUS
#define PLUS(a, b) ((a) + (b))
#define PLUS4(a, b) ((a) + (b))
#endif

// Where the element of a number lies, numbered in row-major order over a shape; the first size never matters.
long place(long index, long4 size, long4 stride)
{
    const long w = index % size.w;
    index /= size.w;
    const long z = index % size.z;
    index /= size.z;
    const long y = index % size.y;
    return index / size.y * stride.x + y * stride.y + z * stride.z + w * stride.w;
}
"""
