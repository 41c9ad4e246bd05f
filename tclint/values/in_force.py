"""The modes in force at the calls of a compiled callable: gradients, autocast, default dtype, the flags of modules."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

from tclint.timeline import guarded
from tclint.values.constant import FALSE, TRUE
from tclint.values.moments import Call, Mode, StatePlace, Walk, Write, some

_SOME_MODULE: Final = "torch.nn.Module"
_TRAINING: Final = "training"


def at_calls(walk: Walk, callee: Hashable) -> list[guarded.Moment]:
    """What of it is in force at each of the calls, by name."""
    moments: list[guarded.Moment] = []
    one = _one_flag(walk)
    names = list(dict.fromkeys(_name(m.place, one) for m in walk if isinstance(m, Write) and m.place[0] == "mode"))
    # Modules are made in training mode; of other modes nobody knows how they are at first.
    state = {n: TRUE.guarded() if n.endswith(f".{_TRAINING}") else guarded.UNKNOWN for n in names}
    state.update(_thawed(walk, one))
    runs = dict.fromkeys(names, 1)
    last: dict[str, Write] = {}
    fresh = set(names)  # what was not set since the last call
    for moment in walk:
        if isinstance(moment, Call):
            if moment.callee == callee:
                counted = {f"{name} times": guarded.Exact(run) for name, run in runs.items()}
                now = {**state, **counted}
                if not moment.moded:
                    now = {mode: held for mode, held in now.items() if f".{_TRAINING}" not in mode}
                moments.append({**now, **_contexts(moment.modes)})
                fresh = set(state)
        elif moment.place[0] == "mode" and not moment.again:
            name, told = _name(moment.place, one), moment.value.guarded()
            # Modules of one class are not told apart: how many of them are set in a row tells more than which.
            again = state[name] == told and name not in fresh
            if not (again and _is_of_same(last[name], moment)):
                runs[name] = runs[name] + 1 if again else 1
            last[name] = moment
            fresh.discard(name)
            state[name] = told if isinstance(told, (guarded.Exact, guarded.Number)) else guarded.UNKNOWN
    return moments


def changes(walk: Walk, callee: Hashable, because: Iterable[str]) -> tuple[Mode | Write | Call, ...]:
    """What puts the modes in force that are to blame for programs: contexts, calls that set them, and the call itself where one
    context gets several arguments."""
    blamed = {place.removeprefix("type(").removesuffix(")").removesuffix(" times") for place in because}
    one = _one_flag(walk)
    found: dict[int, Mode | Write | Call] = {}
    given: dict[int, set[Hashable]] = {}
    last: dict[str, Write] = {}
    for moment in walk:
        if isinstance(moment, Write):
            if moment.place[0] == "mode" and _name(moment.place, one) in blamed:
                last[_name(moment.place, one)] = moment
        elif moment.callee == callee:
            found.update({id(write.node): write for write in last.values()})
            for mode in moment.modes:
                if ("autocast" if mode.name == "autocast" else "grad") in blamed:
                    given.setdefault(id(mode.node), set()).add(mode.arguments)
                    several = len(given[id(mode.node)]) > 1 or mode.decorates
                    found[id(mode.node)] = moment if several else mode
    return tuple(found.values())


def exact(moment: guarded.Moment) -> guarded.Moment:
    """Modes never become dynamic."""
    return {p: guarded.Exact(g.value) if isinstance(g, guarded.Number) else g for p, g in moment.items()}


def listed(moments: Sequence[guarded.Moment]) -> str:
    """The modes that differ between the calls, of each call what is other than at the call before."""
    told = [{n: text for n, g in moment.items() if (text := guarded.text(g))} for moment in moments]
    names = [n for n in dict.fromkeys(n for each in told for n in each) if len({each.get(n) for each in told}) > 1]
    rows: list[str] = []
    before: dict[str, str] = {}
    for each in told:
        shown = [n for n in names if n in each and each[n] != before.get(n)] or [n for n in names if n in each]
        rows.append(" and ".join(f"{n} = {each[n]}" if "." in n else each[n] for n in shown[-2:]))
        before = each
    return f" under {some(row for row in rows if row)}" if any(rows) else ""


def _one_flag(walk: Walk) -> Mapping[str, str]:
    """By the class of a module that is put into training or evaluation, the one whose flag speaks for it.

    What one call sets is one object, of whichever of several classes; and one of an unknown class may be any: that their flags
    were set at different moments is no evidence.
    """
    owners = [m for m in walk if isinstance(m, Write) and m.place[0] == "mode" and m.place[3] == _TRAINING]
    known = list(dict.fromkeys(write.place[2] for write in owners))
    if _SOME_MODULE in known:
        return dict.fromkeys(known, min(known, key=lambda each: each == _SOME_MODULE))
    speaks = {each: each for each in known}
    first: dict[int, str] = {}
    for write in owners:
        mine, other = speaks[write.place[2]], speaks[first.setdefault(id(write.node), write.place[2])]
        if mine != other:
            speaks = {each: other if held == mine else held for each, held in speaks.items()}
    return speaks


def _name(place: StatePlace, one: Mapping[str, str]) -> str:
    owner = one.get(place[2], place[2]) if place[3] == _TRAINING else place[2]
    return f"{owner}.{place[3]}" if owner else place[3]


def _thawed(walk: Walk, one: Mapping[str, str]) -> dict[str, guarded.Guarded]:
    """Whether parameters need a gradient at first, by what is set later: they are made so; what is told to need one
    after others were told not to was one of these."""
    found: dict[str, guarded.Guarded] = {}
    frozen = False
    for moment in walk:
        if isinstance(moment, Write) and moment.place[0] == "mode" and moment.place[3] == "requires_grad":
            told = moment.value.guarded()
            off = told == FALSE.guarded()
            if isinstance(told, guarded.Exact):
                found.setdefault(_name(moment.place, one), FALSE.guarded() if frozen and not off else TRUE.guarded())
            frozen = frozen or off
    return found


def _is_of_same(before: Write, now: Write) -> bool:
    """Whether two calls set the mode of one object: `model.train()` at the end of a validation and where an epoch begins, or one
    call of an object of one of several classes. The same call again is of another object, one of a list."""
    if before.node is now.node:
        return before.place != now.place
    if now.place[3] == _TRAINING and before.path != now.path:
        return True  # nobody knows: two names of one object, as likely as not
    if before.path != now.path:
        return False
    first, second = _receiver(before.node), _receiver(now.node)
    return first is not None and second is not None and ast.unparse(first) == ast.unparse(second)


def _receiver(node: ast.AST) -> ast.expr | None:
    """`model` in `model.train()`."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def _contexts(modes: Sequence[Mode]) -> dict[str, guarded.Guarded]:
    """The modes around a call; one whose arguments are not known is no evidence."""
    found: dict[str, guarded.Guarded] = {"grad": guarded.Exact("", "gradients"), "autocast": guarded.Exact("", "")}
    for mode in modes:
        given = mode.arguments if isinstance(mode.arguments, tuple) else ()
        place = "autocast" if mode.name == "autocast" else "grad"
        known = None not in given
        found[place] = guarded.Exact((mode.name, given), mode.name) if known else guarded.UNKNOWN
    return found
