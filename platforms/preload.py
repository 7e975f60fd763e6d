"""What a runner needs imported, imported once: a forkserver imports this module, and runners are forked of it.

Which platform and which kernel files is said in an environment variable, because that is what reaches a forkserver. It
holds JSON: ``{"platform": Platform.to_value(), "kernels": [paths]}``.
Nothing here may initialise a device: a process that has done so cannot be forked.
"""

from __future__ import annotations

import json
import os

from kernels import registry
from platforms import execution, runner  # noqa: F401 - imported for the runners
from platforms.platform import VARIABLE, Platform, platform_from_value

platform: Platform
catalogue: registry.Catalogue
trouble = ""
"""Why kernels cannot be run, or ""; in that case ``platform`` or ``catalogue`` may be missing."""


def _load() -> str:
    global platform, catalogue
    try:
        boot = json.loads(os.environ[VARIABLE])
        platform = platform_from_value(boot["platform"])
        platform.prepare()
        catalogue = registry.load(boot["kernels"])
    except Exception as error:  # the runner says it; here nobody would hear it
        return execution.describe(error, "")
    return ""


if VARIABLE in os.environ:
    trouble = _load()
