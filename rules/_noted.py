"""Branches that only note something down, which nobody but they themselves read: what TCL101 offers for them."""

from __future__ import annotations

import ast

from tclint.fixes.notes import Notes
from tclint.fixes.places import Place
from tclint.fixes.recipes import guarded
from tclint.model.finding import Applicability, Fix


def fix_noted(place: Place, node: ast.If) -> Fix | None:
    """`if loss < self.best: self.best = loss` in eager runs only."""
    torch = place.importing("torch")
    notes = Notes(place.event, node)
    if torch is None or not notes.in_branch(node):
        return None
    edit = guarded(place, node, torch[0])
    if edit is None:
        return None
    written = ", ".join(dict.fromkeys(f"`{place.source(owner)}`" for owner in notes.here()))
    note = f"compiled runs no longer set {written}: wrong where somebody reads it"
    return Fix("guard it with torch.compiler.is_compiling()", Applicability.UNSAFE, (*torch[1], edit), note)
