"""Every format: what it says, that it is well formed, and that it says the same twice."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from tclint import output
from tclint.model.finding import (
    Applicability,
    Confidence,
    Edit,
    Effect,
    Finding,
    Fix,
    Label,
    Severity,
    Span,
    Step,
    Verification,
)
from tclint.model.report import Report, Site
from tclint.output import lines
from tclint.output.palette import wants_color

jsonschema = pytest.importorskip("jsonschema")

VLM = """\
class VLM:
    def forward(self, ids):
        mask = ids == self.tokenizer.image_token_id
        return mask
"""
WIDE = 'x = "日本é"; y.item()\n\tif x:\n'
SOURCES = {"models/vlm.py": VLM, "wide.py": WIDE, "train.py": "m = torch.compile(model)\n"}

TOKENIZER = Finding(
    code="TCL102",
    name="tokenizer-in-forward",
    path="models/vlm.py",
    span=Span(3, 23, 3, 52),
    message="read on every step; Dynamo cannot trace a tokenizer",
    effect=Effect.GRAPH_BREAK,
    severity=Severity.HIGH,
    confidence=Confidence.HIGH,
    help="read it once in __init__",
    function="VLM.forward",
    chain=(Step("train.py", 135, "torch.compile(model)"), Step("models/vlm.py", 2, "VLM.forward")),
    labels=(Label(2, "tensor since here"),),
    graph_breaks=("GB0156",),
    fix=Fix(
        "read it once",
        Applicability.SAFE,
        (Edit("models/vlm.py", Span(3, 23, 3, 52), "self._image_token_id"),),
    ),
)
ITEM = Finding(
    code="TCL103",
    name="scalar-read",
    path="wide.py",
    span=Span(1, 12, 1, 20),
    message="item, 100%\nof the time",
    effect=Effect.RECOMPILE,
    severity=Severity.LOW,
    confidence=Confidence.MEDIUM,
)
REPORT = Report(
    findings=(TOKENIZER, ITEM),
    sites=(Site("train.py", 135, "torch.compile(model)", "default", 7),),
    files=14,
    functions=7,
    suppressed=2,
    torch="2.13",
    notes=("gen.py: not read: too deep",),
)


class Tokenizer:
    """A tokenizer in forward breaks the graph.

    Bad:  self.tokenizer(x)
    """

    code, name = "TCL102", "tokenizer-in-forward"


def render(name: str, report: Report = REPORT, **options: Any) -> str:
    settings: dict[str, Any] = {"color": False, "width": 110, "sources": SOURCES, "rules": (Tokenizer(),)}
    return output.renderer(name)(report, **(settings | options))


@pytest.mark.parametrize("name", output.FORMATS)
@pytest.mark.parametrize("report", [REPORT, Report(findings=())])
def test_every_format_ends_its_last_line_and_repeats_itself(name: str, report: Report) -> None:
    text = render(name, report)
    assert text == render(name, report)
    assert text == "" or (text.endswith("\n") and not text.endswith("\n\n"))


@pytest.mark.parametrize("name", output.FORMATS)
def test_every_format_survives_a_vanished_file(name: str) -> None:
    def gone(path: str) -> str:
        raise FileNotFoundError(path)

    assert "TCL102" in render(name, sources=gone)


# --- full ------------------------------------------------------------------------------------------------------------


def test_full_frame() -> None:
    text = render("full", replace(REPORT, findings=(TOKENIZER,)), verbose=True)
    assert text.startswith(
        """\
models/vlm.py:3:23  TCL102 tokenizer-in-forward                                             high · graph break
  |
2 |     def forward(self, ids):
  |     ----------------------- tensor since here
3 |         mask = ids == self.tokenizer.image_token_id
  |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |                       read on every step; Dynamo cannot trace a tokenizer (GB0156)
  |
  = compiled because  train.py:135 torch.compile(model) → VLM.forward:2
  = help              read it once in __init__   [--fix, safe]

found 1 hazard in 1 of 14 files (2 suppressed)

                    high  medium     low
  graph breaks         1       -       -

1 fixable with --fix
1 compile site, reaching 7 functions (torch 2.13):
  train.py:135  torch.compile(model), mode default: 7 functions
note: gen.py: not read: too deep
"""
    )


def test_full_is_short_and_says_where_more_is() -> None:
    text = render("full", replace(REPORT, findings=(TOKENIZER,)), summary=False)
    assert text == (
        "models/vlm.py:3:23  TCL102 tokenizer-in-forward                                             high · graph break\n"
        "3 |         mask = ids == self.tokenizer.image_token_id\n"
        "  |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  |                       read on every step; Dynamo cannot trace a tokenizer (GB0156)\n"
        "  = compiled because  train.py:135 torch.compile(model) → VLM.forward:2\n"
        "  = help              read it once in __init__   [--fix, safe]\n"
    )


def test_full_tells_a_note_once() -> None:
    assert TOKENIZER.fix is not None
    note = "the switch holds for everything that the process compiles"
    noted = replace(TOKENIZER, fix=replace(TOKENIZER.fix, note=note))
    both = replace(REPORT, findings=(noted, replace(noted, span=Span(4, 9, 4, 20))))
    assert render("full", both).count(note) == 1
    assert render("full", both, verbose=True).count(note) == 2


def test_full_keeps_the_ends_of_a_long_chain() -> None:
    steps = tuple(Step("models/vlm.py", line, f"VLM.a_method_with_a_long_name_{line}") for line in range(2, 9))
    found = replace(TOKENIZER, chain=(TOKENIZER.chain[0], *steps))
    text = render("full", replace(REPORT, findings=(found,)), summary=False)
    assert "train.py:135 torch.compile(model) → … → VLM.a_method_with_a_long_name_8:8\n" in text
    assert "a_method_with_a_long_name_4" in render("full", replace(REPORT, findings=(found,)), verbose=True)


def test_full_shows_what_costs_most_first_and_the_assumed_last() -> None:
    guessed = replace(TOKENIZER, assumed=True, span=Span(1, 1, 1, 2), chain=(Step("models/vlm.py", 1, "VLM.forward"),))
    text = render("full", replace(REPORT, findings=(ITEM, TOKENIZER, guessed)))
    order = [
        text.index("vlm.py:3:23"),
        text.index("wide.py:1:12"),
        text.index("what follows holds only"),
        text.index("vlm.py:1:1"),
    ]
    assert order == sorted(order)
    assert "= assumed           if this forward is compiled: VLM.forward:1\n" in text
    assert "found 3 hazards in 2 of 14 files (2 suppressed), 1 of them only if their forward is compiled\n" in text
    assert "  if compiled:\n  graph breaks         1       -       -\n" in text


@pytest.mark.parametrize("name", ["concise", "github", "gitlab", "github-review", "junit", "rdjson", "sarif"])
def test_every_list_says_what_is_only_assumed(name: str) -> None:
    said = "if this forward is compiled"
    assert said not in render(name)
    assert said in render(name, replace(REPORT, findings=(replace(TOKENIZER, assumed=True),)))


def test_json_counts_the_assumed_apart() -> None:
    document = json.loads(render("json", replace(REPORT, findings=(ITEM, replace(TOKENIZER, assumed=True)))))
    assert [finding["assumed"] for finding in document["findings"]] == [False, True]
    assert document["summary"]["assumed_findings"] == 1


def test_full_lists_the_sites_that_have_to_do_with_what_was_asked() -> None:
    here, there = REPORT.sites[0], Site("other.py", 3, "torch.compile(f)", "default", 1, beside=True)
    text = render("full", replace(REPORT, sites=(here, there)))
    assert "1 of the 2 compile sites in the project leads here (torch 2.13):\n  train.py:135  " in text
    assert "other.py" not in text
    text = render("full", replace(REPORT, sites=(there,)))
    assert "1 compile site in the project; none leads here (torch 2.13)\n" in text


def test_full_names_the_sites_that_nobody_could_resolve() -> None:
    lost = Site("train.py", 9, "model.compile()", "default", 0, unresolved="what it compiles cannot be read")
    text = render("full", replace(REPORT, sites=(lost,), assumed=True, functions=7, supposed=7))
    assert "  train.py:9  model.compile(), mode default: what it compiles cannot be read\n" in text
    assert "no compile site leads to them: they are only taken as compiled; what 1 site compiles cannot be read" in text


def test_full_says_what_of_a_site_is_known() -> None:
    half = Site("train.py", 9, "torch.compile(model)", "default", 2, unread="self.backbone")
    text = render("full", replace(REPORT, sites=(half,), assumed=True, functions=7, supposed=5))
    assert "mode default: 2 functions; what `self.backbone` holds cannot be read\n" in text
    assert "5 of the functions are only taken as compiled: no compile site leads there; what 1 site compiles" in text
    assert (
        json.loads(render("json", replace(REPORT, sites=(half,))))["summary"]["sites"][0]["unread"] == "self.backbone"
    )


def test_full_names_a_few_of_what_nobody_could_follow() -> None:
    names = ("self.backbone", "self.head", "layer", "self.norm")
    half = Site("train.py", 9, "torch.compile(model)", "default", 2, unread="self.backbone", unfollowed=names)
    text = render("full", replace(REPORT, sites=(half,)))
    assert "2 functions; what `self.backbone`, `self.head`, `layer` and 1 more hold cannot be read\n" in text
    assert json.loads(render("json", replace(REPORT, sites=(half,))))["summary"]["sites"][0]["unfollowed"] == [*names]


def test_full_message_stays_on_the_caret_line_where_it_fits() -> None:
    short = replace(TOKENIZER, message="short", graph_breaks=(), labels=())
    assert "^" * 29 + " short\n" in render("full", Report((short,)))


def test_full_message_of_several_lines_is_one_paragraph() -> None:
    assert "^^^^^^^^ item, 100% of the time\n" in render("full", Report((ITEM,)))


def test_full_carets_stand_below_wide_characters_and_tabs() -> None:
    text = render("full", Report((replace(ITEM, message="here"),)))
    source, carets = text.splitlines()[1:3]
    assert lines.width(source[: source.index("y.item")]) == carets.index("^")
    tab = replace(ITEM, span=Span(2, 5, 2, 6), message="here")
    source, carets = render("full", Report((tab,))).splitlines()[1:3]
    assert source.index("x:") == carets.index("^")


def test_full_never_prints_control_characters() -> None:
    evil = {"wide.py": "x = '\x1b[2J'\x07; y.item()\n"}
    assert "\x1b" not in render("full", Report((replace(ITEM, message="a\x1b[2Jb"),)), sources=evil)


def test_full_long_lines_are_cut_around_the_finding() -> None:
    long = {"wide.py": "a" * 300 + "y.item()" + "b" * 300}
    text = render("full", Report((replace(ITEM, span=Span(1, 301, 1, 309), message="here"),)), sources=long)
    source, carets = text.splitlines()[1:3]
    assert len(source) <= 110
    assert source[carets.index("^") :].startswith("y.item()")
    assert "…" in source


def test_full_several_lines() -> None:
    text = render(
        "full", Report((replace(TOKENIZER, span=Span(2, 5, 4, 20), message="m", labels=(), chain=()),)), verbose=True
    )
    assert "2 |     def forward(self, ids):\n  |     ^^^^^^^^^^^^^^^^^^^^^^^ m (GB0156)\n3 |" in text
    assert "4 |         return mask\n  |\n" in text


def test_full_clean_and_assumed() -> None:
    assert "no hazards found in 3 files\n" in render("full", Report((), files=3))
    assert "no compile site in sight: every nn.Module.forward is taken as compiled" in render(
        "full", Report((), assumed=True)
    )


def test_full_without_summary_is_findings_only() -> None:
    assert "found " not in render("full", summary=False)
    assert render("full", Report(()), summary=False) == ""


def test_color_only_where_asked() -> None:
    assert "\x1b[" in render("full", color=True)
    assert "\x1b[" not in render("full")


@pytest.mark.parametrize(
    ("choice", "environ", "expected"),
    [
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("auto", {}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "0"}, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_wants_color(choice: str, environ: dict[str, str], expected: bool) -> None:
    assert wants_color(choice, None, environ) is expected


# --- machines --------------------------------------------------------------------------------------------------------


def test_concise() -> None:
    first, second = render("concise").splitlines()
    assert first.startswith("models/vlm.py:3:23: TCL102[tokenizer-in-forward] read on every step;")
    assert second == "wide.py:1:12: TCL103[scalar-read] item, 100% of the time"


def test_concise_says_the_verdict() -> None:
    judged = replace(REPORT.findings[1], verified=Verification("confirmed", "Dynamo said so"))
    text = output.renderer("concise")(replace(REPORT, findings=(judged,)), color=False, width=80, sources={})
    assert text == "wide.py:1:12: TCL103[scalar-read] item, 100% of the time [confirmed]\n"


def test_json() -> None:
    document = json.loads(render("json"))
    assert list(document) == ["version", "tclint", "torch", "findings", "summary"]
    assert document["version"] == 1
    first, second = document["findings"]
    assert list(first) == [
        *("code", "name", "path", "line", "column", "end_line", "end_column", "message", "effect", "severity"),
        *("confidence", "function", "assumed", "compiled_because", "help", "graph_breaks", "labels", "fix", "same_as"),
        *("roots", "verified"),
    ]
    assert first["compiled_because"] == ["train.py:135 torch.compile(model)", "models/vlm.py:2 VLM.forward"]
    assert first["fix"]["edits"] == [
        {"path": "models/vlm.py", "line": 3, "column": 23, "end_line": 3, "end_column": 52}
        | {"text": "self._image_token_id"}
    ]
    assert second["fix"] is None
    assert document["summary"]["severity"] == {"high": 1, "medium": 0, "low": 1}
    assert document["summary"]["suppressed"] == 2


POSITION = {"type": "object", "required": ["line", "column"], "properties": {"line": {"type": "integer", "minimum": 1}}}
RANGE = {"type": "object", "required": ["start", "end"], "properties": {"start": POSITION, "end": POSITION}}
DIAGNOSTIC = {
    "type": "object",
    "required": ["message", "location"],
    "properties": {
        "message": {"type": "string"},
        "location": {"required": ["path"], "properties": {"path": {"type": "string"}, "range": RANGE}},
        "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
        "code": {"required": ["value"]},
        "suggestions": {"type": "array", "maxItems": 1, "items": {"required": ["range", "text"]}},
    },
    "additionalProperties": True,
}


def test_rdjson_columns_are_bytes() -> None:
    document = json.loads(render("rdjson"))
    for diagnostic in document["diagnostics"]:
        jsonschema.validate(diagnostic, DIAGNOSTIC)
    item = document["diagnostics"][1]
    start = WIDE.splitlines()[0][:11].encode()
    assert item["location"]["range"]["start"] == {"line": 1, "column": len(start) + 1}
    assert item["severity"] == "INFO"


def test_rdjsonl_is_the_same_line_by_line() -> None:
    each = [json.loads(line) for line in render("rdjsonl").splitlines()]
    assert each == json.loads(render("rdjson"))["diagnostics"]


def test_rdjson_joins_edits_into_one_suggestion() -> None:
    edits = (
        Edit("models/vlm.py", Span(3, 9, 3, 13), "keep"),
        Edit("models/vlm.py", Span(4, 16, 4, 20), "keep"),
    )
    finding = replace(TOKENIZER, fix=Fix("rename", Applicability.SAFE, edits))
    (diagnostic,) = json.loads(render("rdjson", Report((finding,))))["diagnostics"]
    (suggestion,) = diagnostic["suggestions"]
    assert suggestion["text"] == "keep = ids == self.tokenizer.image_token_id\n        return keep"
    assert suggestion["range"] == {"start": {"line": 3, "column": 9}, "end": {"line": 4, "column": 20}}


@pytest.mark.parametrize(
    "edits",
    [
        (Edit("other.py", Span(1, 1, 1, 1), "x"),),
        (Edit("models/vlm.py", Span(1, 1, 1, 1), "x"), Edit("models/vlm.py", Span(90, 1, 90, 1), "x")),
        (Edit("models/vlm.py", Span(1, 1, 1, 9), "x"), Edit("models/vlm.py", Span(1, 4, 1, 5), "x")),
    ],
)
def test_rdjson_no_suggestion_where_it_cannot_be_one_piece(edits: tuple[Edit, ...]) -> None:
    finding = replace(TOKENIZER, fix=Fix("t", Applicability.SAFE, edits))
    (diagnostic,) = json.loads(render("rdjson", Report((finding,))))["diagnostics"]
    assert "suggestions" not in diagnostic


def test_github_escapes() -> None:
    odd = replace(ITEM, path="a,b:c%.py")
    first, second = render("github", Report((odd, TOKENIZER))).splitlines()
    assert first.startswith("::notice title=tclint TCL103 scalar-read,file=a%2Cb%3Ac%25.py,line=1,col=12,endLine=1,")
    assert first.endswith("item, 100%25%0Aof the time")
    assert second.startswith("::error ")


def test_github_columns_only_on_one_line() -> None:
    text = render("github", Report((replace(ITEM, span=Span(1, 2, 3, 4)),)))
    assert "line=1,endLine=3::" in text


def test_gitlab() -> None:
    first, second = json.loads(render("gitlab"))
    assert first["severity"] == "major"
    assert first["location"] == {
        "path": "models/vlm.py",
        "positions": {"begin": {"line": 3, "column": 23}, "end": {"line": 3, "column": 52}},
    }
    assert first["fingerprint"] != second["fingerprint"]


def test_fingerprint_survives_lines_added_above_and_tells_twins_apart() -> None:
    (before,) = json.loads(render("gitlab", Report((TOKENIZER,))))
    moved = replace(TOKENIZER, span=Span(5, 23, 5, 52))
    shifted = {"models/vlm.py": "import x\n\n" + VLM}
    (after,) = json.loads(render("gitlab", Report((moved,)), sources=shifted))
    assert before["fingerprint"] == after["fingerprint"]
    one, two = json.loads(render("gitlab", Report((TOKENIZER, TOKENIZER))))
    assert one["fingerprint"] != two["fingerprint"]


def test_junit() -> None:
    evil = replace(ITEM, message='<&"\x00>')
    root = ET.fromstring(render("junit", Report((TOKENIZER, evil))))
    assert [suite.get("name") for suite in root] == ["models/vlm.py", "wide.py"]
    failure = root.find("testsuite[2]/testcase/failure")
    assert failure is not None
    assert failure.get("message") == '<&"�>'
    clean = ET.fromstring(render("junit", Report(())))
    assert clean.get("tests") == "1"
    assert clean.find(".//failure") is None


# The parts of the SARIF 2.1.0 schema that our output uses, closed so that an invented property fails.
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "markdown": {}}}
REGION = {
    "type": "object",
    "required": ["startLine"],
    "additionalProperties": False,
    "properties": {k: {"type": "integer", "minimum": 1} for k in ("startLine", "startColumn", "endLine", "endColumn")},
}
ARTIFACT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"uri": {"type": "string", "pattern": r"^[^ \\]+$"}, "uriBaseId": {"type": "string"}},
}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer"},
        "physicalLocation": {
            "additionalProperties": False,
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
        },
        "logicalLocations": {"type": "array"},
        "message": MESSAGE,
    },
}
RESULT = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer"},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "items": LOCATION},
        "relatedLocations": {"type": "array", "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "codeFlows": {
            "items": {
                "required": ["threadFlows"],
                "properties": {
                    "threadFlows": {
                        "minItems": 1,
                        "items": {
                            "required": ["locations"],
                            "properties": {"locations": {"items": {"properties": {"location": LOCATION}}}},
                        },
                    }
                },
            }
        },
        "fixes": {
            "items": {
                "required": ["artifactChanges"],
                "properties": {
                    "artifactChanges": {
                        "minItems": 1,
                        "items": {
                            "required": ["artifactLocation", "replacements"],
                            "properties": {
                                "artifactLocation": ARTIFACT,
                                "replacements": {
                                    "minItems": 1,
                                    "items": {"required": ["deletedRegion"], "properties": {"deletedRegion": REGION}},
                                },
                            },
                        },
                    }
                },
            }
        },
        "properties": {"type": "object"},
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "items": {
                "required": ["tool"],
                "additionalProperties": False,
                "properties": {
                    "tool": {"required": ["driver"]},
                    "automationDetails": {},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "invocations": {"items": {"required": ["executionSuccessful"]}},
                    "results": {"type": "array", "items": RESULT},
                    "properties": {"type": "object"},
                },
            }
        },
    },
}


def test_sarif() -> None:
    document = json.loads(render("sarif", replace(REPORT, findings=(TOKENIZER, replace(ITEM, path="/abs/a b.py")))))
    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    first, second = run["results"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in (first, second)] == ["TCL102", "TCL103"]
    assert rules[0]["shortDescription"]["text"] == "A tokenizer in forward breaks the graph."
    assert "Bad:  self.tokenizer(x)" in rules[0]["help"]["markdown"]
    assert (rules[0]["properties"]["precision"], rules[1]["properties"]["precision"]) == ("high", "medium")
    flow = first["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow] == [135, 2, 3]
    replacement = first["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"]["text"] == "self._image_token_id"
    place = second["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "file:///abs/a%20b.py"}


@pytest.mark.parametrize("name", ["full", "github", "github-review", "junit", "rdjson", "sarif"])
def test_eager_code_is_not_called_compiled(name: str) -> None:
    def words(finding: Finding) -> str:
        report = Report(findings=(finding,), files=1)
        return output.renderer(name)(report, color=False, width=200, sources=SOURCES).lower()

    assert "compiled because" in words(TOKENIZER)
    eager = words(replace(TOKENIZER, eager=True))
    assert "reached from" in eager
    assert "compiled because" not in eager
    assert "compiled because" not in words(replace(TOKENIZER, assumed=True))
