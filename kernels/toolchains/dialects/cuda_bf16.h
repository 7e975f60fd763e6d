// Nothing of it is used where `__CUDA_ARCH__` is not defined.
#pragma once
