"""A run about a few files of a large project: it goes through what can lead to them, and not through all.

Which compile sites say something about a file, and whether its models count as compiled where none does, is for the whole
program to say. So the sites are sought that can lead to the file, by the names that files hand on (`handing`), and those of the
files that are read on the way. Whether a site somewhere else leaves open what it compiles is found out from scripts that
nobody imports, one by one. Where none of this comes to an end soon, the run goes through everything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from tclint.run import handing
from tclint.run.plan import Interpreted, Plan, Scope
from tclint.sources.roles import is_test

if TYPE_CHECKING:
    from tclint.program import Module

_LARGE: Final = 1000
"""Files of a project in which it pays."""
_FEW: Final = 16
"""Files that are reported, at most."""
_LINKED: Final = 64
_TRIED: Final = 12
"""Scripts that are asked."""
_BEGUN: Final = 100
"""Files with sites that are gone through, at most."""
_COMPILES: Final = re.compile(rb"(?<!@)\btorch\.compile\(")
"""What may leave open what it compiles: what a decorator stands above is in sight."""
_HANDS_BACK: Final = b"return torch.compile("


def run(plan: Plan) -> Interpreted:
    """Interpret what a plan is about: all that can lead to the reported files, where that is found."""
    if len(plan.program.modules) < _LARGE or not 0 < len(plan.reported) <= _FEW:
        return plan.run()
    every = plan.eager
    scope = _scope(plan)
    begun = [m for m in every if scope is not None and m.path in (*scope.leading, *scope.linked)]
    while scope is not None and len(begun) <= _BEGUN:
        plan.program.renew(())
        plan.begin(begun, scope)
        found = plan.run()
        ties = {holder for holder, held in plan.ties if held in scope.leading} - scope.leading
        met = plan.memo.noted - plan.around
        new = [m for m in every if m.path in met]
        if ties:
            break
        if not new:
            return found
        begun = [m for m in every if m.path in plan.around or m.path in met]
    plan.program.renew(())
    plan.begin(every)
    return plan.run()


def _scope(plan: Plan) -> Scope | None:
    leading = handing.leading(plan.program, plan.reported, plan.keepers)
    if leading is None:
        return None
    linked = _linked(plan, leading)
    if linked is not None:
        return Scope(leading, linked, False)
    if plan.settings.assume_compiled == "auto" and not _left_open(plan, leading):
        return None
    return Scope(leading, frozenset(), True)


def _linked(plan: Plan, start: Iterable[str]) -> frozenset[str] | None:
    """The files that imports join with some, whichever imports the other; None where they are not few."""
    chosen = {m.path: m for m in plan.chosen}
    found = set(start)
    ahead = [*found]
    while ahead:
        module = plan.program.by_path[ahead.pop()]
        near = {*plan.links(module)} if module.path in chosen else set()
        users = [m for m in plan.chosen if _word(module) in plan.glances[m.path].words]
        if len(users) > _LINKED:
            return None
        near.update(m.path for m in users if module.path in plan.links(m))
        ahead += near - found
        found |= near
        if len(found) > _LINKED:
            return None
    return frozenset(found)


def _left_open(plan: Plan, leading: frozenset[str]) -> bool:
    """Whether a site that imports join with the reported files leaves open what it compiles."""
    words = {word for m in plan.program.modules for word in plan.glances[m.path].words}
    scripts = [
        m
        for m in plan.eager
        if m.path not in leading
        and not is_test(m.path)
        and not m.is_package
        and _word(m) not in words
        and _COMPILES.search(m.raw)
    ]
    # Which is asked first decides what it costs and nothing else: what a function gives back compiled, it was mostly given.
    scripts.sort(key=lambda m: (_HANDS_BACK not in m.raw, len(m.raw), m.path))
    near = [_near(plan, path, leading) for path in sorted(plan.reported)]
    for script in scripts[:_TRIED]:
        if all(_joined(plan, script.path, some) for some in near):
            if plan.memo.traced(f"left open {script.path}", partial(_leaves_open, plan, script)):
                return True
    return False


def _leaves_open(plan: Plan, script: Module) -> bool:
    """Whether a script has a site of which nobody knows what it compiles."""
    plan.begin([script])
    plan.runner.find_sites([script])
    return script.path in plan.runner.compiled().unresolved


def _near(plan: Plan, path: str, leading: Iterable[str]) -> set[str]:
    """A file, and those of the ones that lead to it that imports join with it."""
    chosen = {m.path for m in plan.chosen}
    links = {each: plan.links(plan.program.by_path[each]) if each in chosen else () for each in leading}
    found, ahead = {path}, [path]
    while ahead:
        at = ahead.pop()
        near = {each for each in links if each in links[at] or at in links[each]} - found
        found |= near
        ahead += near
    return found


def _joined(plan: Plan, script: str, near: set[str]) -> bool:
    """Whether a script and some files import the same file, over however many steps."""
    chosen = {m.path for m in plan.chosen}
    found = ({script}, set(near))
    ahead = ([script], sorted(near))
    while any(ahead):
        for mine, left in zip(found, ahead, strict=True):
            if left:
                at = left.pop(0)
                links = {*plan.links(plan.program.by_path[at])} - mine if at in chosen else set()
                mine |= links
                left += sorted(links)
        if not found[0].isdisjoint(found[1]):
            return True
    return False


def _word(module: Module) -> str:
    """The word by which a file is imported."""
    return os.path.basename(module.directory) if module.is_package else module.name.rpartition(".")[2]
