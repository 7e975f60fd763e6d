"""What contracts say where platforms may disagree, by topic: the rule that holds unless an operation says otherwise.

A rule that begins with "open:" is no rule: what comes out is recorded, and compared between platforms, and not judged.
"""

from __future__ import annotations

POLICIES: dict[str, str] = {
    "NaN": "propagates: what is computed from a NaN is NaN, maxima and minima included; which NaN is open",
    "infinities": "as IEEE 754 has them: inf - inf and 0 * inf are NaN",
    "overflow": "a result beyond its dtype's range is an infinity; it is open where the order of operations decides",
    "underflow": "additions are exact; products, quotients and functions may flush subnormal results to zero",
    "signed zero": "open: either zero is right where the result is zero",
    "fully masked rows": "a softmax over nothing but -inf is NaN; attention of a query that sees no key is open",
    "ties": "of equal elements the first wins where an index is promised; else any of them",
    "repeated indices": "a scattered sum adds all of them, in any order; a scattered copy leaves open which one stays",
    "float to integer": "toward zero; out of range saturates, and NaN is open",
    "integer overflow": "wraps around, as two's complement does",
    "integer division": "floors, as torch's floor_divide and remainder do; division by zero is not a valid input",
    "shifts": "right shifts of signed integers keep the sign; a shift by the width or more is not a valid input",
    "empty inputs": "an axis of length 0 gives an empty result, a sum over nothing 0",
    "float8 e4m3fn, e5m2": "conversion saturates at the largest finite number; NaN stays NaN; e5m2's infinities stay",
    "float8 e4m3fnuz, e5m2fnuz": "as above; the one NaN takes the code of -0, so that zero has no sign",
}
"""Topic to rule."""
