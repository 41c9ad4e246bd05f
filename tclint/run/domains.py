"""One run under several configurations: which of its files may be read together.

What selects, ignores and filters findings is asked file by file (`Settings.at`). What decides how the program is read (the
release of torch, own rules, own wrappers of torch.compile, what counts as compiled …) holds for a whole reading: files whose
configurations differ in it are read in turn. Each time everything else is linked too, so a project sees what it imports
from its neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tclint.model.report import Report, Site
from tclint.model.settings import Settings
from tclint.program import FunctionPlace
from tclint.sources.files import InputFile

_READING: Final = (
    "rules",
    "packs",
    "target_torch",
    "target_python",
    "assume_compiled",
    "compile_functions",
    "cudagraph",
    "tokenizers",
    "require_compile_wrapper",
    "python",
    "withheld",
)
_OF_THE_RUN: Final = ("jobs", "cache_dir", "no_cache", "src", "fixes", "root", "nearer")

Domain = tuple[Sequence[InputFile], Settings]
Told = tuple[Report, set[FunctionPlace]]
"""What a domain gave: its report, and the functions that it interpreted as compiled."""


def domains(files: Sequence[InputFile], settings: Settings) -> list[Domain]:
    """The files with what holds for those of them that are reported, once for each way of reading the program."""
    if not settings.nearer:
        return [(files, settings)]
    ways: dict[str, Settings] = {}
    for file in files:
        if file.report:
            held = settings.at(file.absolute)
            ways.setdefault(_way(held), held)
    if len(ways) < 2:
        held = next(iter(ways.values()), settings)
        return [(files, _in_run(held, settings))]
    return [
        (
            [replace(file, report=file.report and _way(settings.at(file.absolute)) == way) for file in files],
            _in_run(held, settings),
        )
        for way, held in ways.items()
    ]


def joined(told: Sequence[Told]) -> Report:
    """One report of all."""
    reports = [report for report, _ in told]
    if len(reports) == 1:
        return reports[0]
    sites: dict[tuple[str, int], Site] = {}
    for site in (site for report in reports for site in report.sites):
        known = sites.get((site.path, site.line))
        if known is not None:
            wider = site if site.reaches > known.reaches else known
            site = replace(wider, beside=site.beside and known.beside)
        sites[site.path, site.line] = site
    return Report(
        findings=tuple(sorted((f for report in reports for f in report.findings), key=lambda f: f.listed)),
        sites=tuple(sites[place] for place in sorted(sites)),
        assumed=any(report.assumed for report in reports),
        files=sum(report.files for report in reports),
        functions=len(set().union(*(reached for _, reached in told))),
        suppressed=sum(report.suppressed for report in reports),
        torch=" and ".join(dict.fromkeys(report.torch for report in reports)),
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
    )


def _in_run(held: Settings, run: Settings) -> Settings:
    """What one configuration says of the reading, and the first one of the run."""
    return replace(held, **{name: getattr(run, name) for name in _OF_THE_RUN})


def _way(settings: Settings) -> str:
    return repr([getattr(settings, name) for name in _READING])
