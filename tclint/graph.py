"""What a file's meaning depends on: its own text and that of every file it leads to by imports.

The hash of a file with all it can read is what results about it are kept under: an edit changes the hashes of the files
that can see it, and of no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tclint.cache import digest_of
from tclint.facts import Imports
from tclint.program import Module, Program, absolute_name


def digests(
    program: Program,
    hashes: Mapping[str, str],
    imports: Callable[[Module], Imports],
    attributes: Callable[[Module], Iterable[str]],
) -> dict[str, str]:
    """For each path, one hash of everything that an interpretation starting there can read."""
    edges = {m.path: sorted(_targets(program, m, imports(m), attributes)) for m in program.modules}
    own = {m.path: f"{m.path} {hashes[m.path]} {m.name} {m.root}" for m in program.modules}
    found: dict[str, str] = {}
    for group in _groups(edges):
        inside = set(group)
        below = {found[target] for path in group for target in edges[path] if target not in inside}
        links = (f"{path} -> {target}" for path in sorted(group) for target in edges[path])
        digest = digest_of((*(own[path] for path in sorted(group)), *links, *sorted(below)))
        for path in group:
            # Files that import each other in a circle can read the same, but start from different places.
            found[path] = digest_of((path, digest)) if len(group) > 1 else digest
    return found


def _targets(
    program: Program, module: Module, imported: Imports, attributes: Callable[[Module], Iterable[str]]
) -> set[str]:
    """The files of the program that a file's imports lead to directly."""
    found: set[str] = set()
    packages: list[Module] = []

    def add(dotted: str, as_object: bool) -> None:
        target = program.find(module, dotted)
        if target is not None and target is not module and (target.path not in found or as_object):
            found.add(target.path)
            if as_object and target.is_package:
                packages.append(target)

    for source, names in imported:
        name = source.lstrip(".")
        dotted = absolute_name(module, name or None, len(source) - len(name))
        if not names:
            parts = dotted.split(".")
            for i in range(len(parts)):
                add(".".join(parts[: i + 1]), True)
            continue
        add(dotted, False)
        for each in names:
            if each != "*":
                add(f"{dotted}.{each}" if dotted else each, True)
    if packages:
        # `import package` and then `package.part`: a part that some other file imported.
        read = list(attributes(module))
        while packages:
            package = packages.pop()
            for part in read:
                below = program.by_place.get(f"{package.directory}/{part}")
                if below is not None and below is not module and below.path not in found:
                    found.add(below.path)
                    if below.is_package:
                        packages.append(below)
    return found


def _groups(edges: Mapping[str, list[str]]) -> list[list[str]]:
    """The strongly connected groups, what is depended on first (Tarjan's algorithm, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    groups: list[list[str]] = []
    for start in edges:
        if start in order:
            continue
        work = [(start, iter(edges[start]))]
        order[start] = low[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(edges[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    group: list[str] = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == node:
                            break
                    groups.append(group)
    return groups
