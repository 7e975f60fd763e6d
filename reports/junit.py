"""An audit as JUnit XML, which CI systems show: a suite for each place, a case for each implementation."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections.abc import Iterable

from reports.audit import Audit
from reports.fleet.cells import FleetCell


def document(audit: Audit) -> str:
    """Return the XML. What fails is a failure with its replay command; what could not be judged is skipped."""
    root = xml.Element("testsuites", name="portolan")
    for place in audit.places:
        _suite(root, place, [cell for cell in audit.cells if cell.place == place])
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: xml.Element, place: str, cells: Iterable[FleetCell]) -> None:
    suite = xml.SubElement(root, "testsuite", name=place)
    outcomes = [_case(suite, cell) for cell in cells]
    suite.set("tests", str(len(outcomes)))
    suite.set("failures", str(outcomes.count("fail")))
    suite.set("errors", "0")
    suite.set("skipped", str(outcomes.count("none")))


def _case(suite: xml.Element, cell: FleetCell) -> str:
    case = xml.SubElement(
        suite, "testcase", classname=f"{suite.get('name')}.{cell.operation}", name=cell.implementation
    )
    if cell.outcome == "fail":
        said = f"{cell.failed} of {cell.ran} cases: {cell.cause or cell.message}"
        failure = xml.SubElement(case, "failure", type=cell.verdict, message=said)
        failure.text = "\n".join(filter(None, [cell.message, cell.cause, cell.replay]))
    elif cell.outcome == "none":
        xml.SubElement(case, "skipped", message=f"{cell.verdict}: {cell.message}".rstrip(": "))
    return cell.outcome
