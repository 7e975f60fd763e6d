"""Hardware that is not here: kernels compiled for it, and what the compiler says held against its limits."""
