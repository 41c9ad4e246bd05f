"""The result of one run: what was found, and what the run knew and did not know."""

from __future__ import annotations

from dataclasses import dataclass

from tclint.model.finding import Finding


@dataclass(frozen=True, slots=True)
class Site:
    """One compile site as the summary shows it."""

    path: str
    line: int
    text: str
    mode: str
    reaches: int
    """How many functions the region of this site holds."""
    cell: int = 0
    """As in `Finding`."""
    unresolved: str = ""
    """Why nothing of the program is known to be compiled here."""
    unread: str = ""
    """What the compiled module calls and nobody knows: a module that it was handed, by its name (`self.backbone`)."""
    unfollowed: tuple[str, ...] = ()
    """What the compiled code calls and nobody knows, by its names: nothing is said of what is in there."""
    handing: tuple[str, ...] = ()
    """The functions that hand over what is compiled there and of which nobody knows what it is, where others are known."""
    beside: bool = False
    """Whether it only stands in the same project: neither in a file that was asked about nor does it lead to one."""

    @property
    def place(self) -> str:
        return f"{self.path}:cell {self.cell}" if self.cell else self.path


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong with one file, not with the user's command: reported as a TCL9xx finding."""

    path: str
    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything an output format needs. Findings are sorted and already past suppression."""

    findings: tuple[Finding, ...]
    sites: tuple[Site, ...] = ()
    assumed: bool = False
    """Whether some `nn.Module.forward` that no compile site reaches was taken as compiled."""
    files: int = 0
    functions: int = 0
    """How many are interpreted as compiled: of the files asked about, and what the sites compile that lead there."""
    supposed: int = 0
    """How many of them no compile site leads to."""
    suppressed: int = 0
    torch: str = ""
    """The torch version the rules speak for."""
    notes: tuple[str, ...] = ()
