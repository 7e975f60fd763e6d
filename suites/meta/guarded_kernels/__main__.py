"""Run every check and print one line of JSON for each: its name, and what went wrong or ""."""

from __future__ import annotations

import importlib
import json
import traceback
import warnings

import torch

from platforms import guarded_interpreter
from suites.meta.guarded_kernels import names


def _trouble(name: str) -> str:
    topic, _, check = name.partition(".")
    guarded_interpreter.install()
    try:
        getattr(importlib.import_module(f"suites.meta.guarded_kernels.{topic}"), f"check_{check}")()
    except Exception:  # the report is what the test is made of
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    guarded_interpreter.install()
    for one in names():
        print(json.dumps({"check": one, "trouble": _trouble(one)}), flush=True)
