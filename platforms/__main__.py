"""``python -m platforms``: which platforms this machine has, and for each one that it has not, why.

``python -m platforms profile`` asks how they compute: :mod:`platforms.profile.command`. ``python -m platforms vendors``
prints the vendors that there is a platform file for, as JSON.

Works where torch is missing or broken: then it says so.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tabulate import tabulate  # type: ignore[import-untyped]

from platforms.detect import Detection, DetectionError, detect, vendors
from platforms.gather import TIME_LIMIT, probe
from platforms.platform import Platform
from platforms.pool import Pool, WorkerError
from platforms.probe import Probe

_HEADINGS = ("platform", "device", "runs", "memory", "budget", "name")


def main(arguments: list[str] | None = None) -> int:
    """Print what was found and return the exit code: 0, or 1 if there is no platform at all."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["profile"]:
        from platforms.profile import command

        return command.main(arguments[1:])
    if arguments[:1] == ["targets"]:
        from platforms.targets import command as targets

        return targets.main(arguments[1:])
    if arguments == ["vendors"]:
        print(json.dumps(vendors()))
        return 0
    options = _parser().parse_args(arguments)
    found = probe(time_limit=options.time_limit)
    try:
        detection = detect(found, chosen=options.platform)
    except DetectionError as error:
        print(error, file=sys.stderr)
        return 1
    tried = _try(detection.found) if options.try_ else {}
    if options.json:
        print(json.dumps(_as_value(found, detection, tried), indent=2))
    else:
        print("\n".join(_lines(found, detection, tried)))
    return 0 if detection.found else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m platforms", description="List the platforms of this machine.")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--platform", metavar="NAME", help="the vendor to take where several claim the machine")
    parser.add_argument(
        "--try", dest="try_", action="store_true", help="start each platform's worker and find out what it cannot do"
    )
    parser.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS", help="how long drivers may take to answer"
    )
    return parser


def _try(platforms: list[Platform]) -> dict[str, dict[str, Any]]:
    """Return what each platform's worker says of it, or ``{"error": why}`` if it does not start."""
    tried: dict[str, dict[str, Any]] = {}
    with Pool() as pool:
        for platform in platforms:
            pool.open(platform)
        for platform in platforms:
            try:
                tried[platform.name] = pool.describe(platform)
            except WorkerError as error:
                tried[platform.name] = {"error": str(error)}
    return tried


def _as_value(found: Probe, detection: Detection, tried: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "found": [{**platform.to_value()["fields"], **tried.get(platform.name, {})} for platform in detection.found],
        "absent": dict(detection.absent),
        "probe": json.loads(found.to_json()),
    }


def _lines(found: Probe, detection: Detection, tried: dict[str, dict[str, Any]]) -> list[str]:
    lines = [f"torch {found.torch_version or 'absent'}, triton {found.triton_version or 'absent'}", ""]
    rows = [_row(found, platform) for platform in detection.found]
    lines += (
        tabulate(rows, _HEADINGS, tablefmt="simple", disable_numparse=True).splitlines() if rows else ["no platform"]
    )
    lines += ["", "limits:", *limits] if (limits := _limits(found)) else []
    lines += ["", "cannot do:", *refused] if (refused := _refused(tried)) else []
    lines += ["", "not here:", *(f"  {name}: {reason}" for name, reason in detection.absent)]
    reasons = " ".join(dict(detection.absent).values())
    return lines + [f"  {step}: {error}" for step, error in found.errors.items() if error not in reasons]


def _row(found: Probe, platform: Platform) -> tuple[str, ...]:
    devices = found.devices_of(platform.device.partition(":")[0])
    names = sorted({f"{device.name} ({device.capability})" for device in devices})
    count = f"{len(devices)} x " if len(devices) > 1 else ""
    memory = f"{devices[0].memory / 2**30:.0f} GiB" if devices else ""
    host = found.cpu_capability if platform.name == "cpu" else ""
    name = platform.title or (count + ", ".join(names) if devices else host)
    programs = f", {platform.programs} programs" if platform.programs else ""
    paradigms = ", ".join(platform.paradigms)
    name = f"only with --platform {platform.name}" if platform.on_request else name
    return platform.name, platform.device, paradigms, memory, f"{platform.budget} elements{programs}", name


def _limits(found: Probe) -> list[str]:
    lines = []
    for device in found.devices:
        numbers = ", ".join(f"{name} {value}" for name, value in sorted(device.limits.items()))
        lines.append(f"  {device.type}:{device.index} {numbers}")
    return lines


def _refused(tried: dict[str, dict[str, Any]]) -> list[str]:
    lines = []
    for name, said in tried.items():
        lines += [f"  {name}: {said['error']}"] if "error" in said else []
        lines += [f"  {name}, {what}: {reason}" for what, reason in said.get("capabilities", {}).items()]
    return lines


if __name__ == "__main__":
    sys.exit(main())
