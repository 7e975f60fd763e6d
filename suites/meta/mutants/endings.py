"""Kernels that do not come back: each must cost one verdict and nothing else."""

import ctypes
import os
import sys
import time

import torch

from kernels import implementation
from suites.meta.mutants import fault


@fault("ending", "BackendBench#45")
@implementation("relu", paradigm="torch")
def wrong_segfaults(x):
    """Reads address 8 when a row has more than three elements."""
    if x.dim() and x.shape[-1] > 3:
        ctypes.string_at(8)
    return torch.relu(x)


@fault("ending", "llama.cpp#24521")
@implementation("relu", paradigm="torch")
def wrong_aborts(x):
    """An assertion in native code."""
    if x.numel() > 5:
        os.abort()
    return torch.relu(x)


@fault("F32", "FlagTree#1051")
@implementation("relu", paradigm="torch")
def wrong_loops_forever(x):
    """A barrier that waits for a program which is not there."""
    while x.numel() > 6:
        time.sleep(0.01)
    return torch.relu(x)


@fault("ending", "llama.cpp#17180")
@implementation("relu", paradigm="torch")
def wrong_exits(x):
    """Some libraries answer an error by ending the process."""
    if x.numel() > 2:
        sys.exit(3)
    return torch.relu(x)


@fault("ending", "FlagGems#6017")
@implementation("relu", paradigm="torch")
def wrong_raises(x):
    """Refuses a legal input."""
    if x.dim() == 3:
        raise NotImplementedError("three axes")
    return torch.relu(x)
