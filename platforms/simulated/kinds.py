"""What can be planted in the arithmetic of a simulated device; words, so that a platform is plain data."""

WIDE_FLOATS = "float64 kept as float32"
WIDE_INTEGERS = "int64 kept as int32"
FLUSHED = "subnormals of float32 flushed"
TF32 = "products of float32 in tf32"
SQUARE_ROOTS = "square roots of float32 one unit too large"
