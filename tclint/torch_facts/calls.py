"""What one call does on a release, by the kinds of its arguments. Where a release was not asked, the nearest that was.

The names are those that events carry: `Tensor.item`, `ndarray.tolist`, `logging.Logger.info`, `builtins.print`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tclint.torch_facts import facts, overlay
from tclint.torch_facts.answer import Answer
from tclint.torch_facts.facts import Places
from tclint.torch_facts.form import Form
from tclint.torch_facts.kind import Kind

Kinds = Sequence[Kind | None]
Keywords = Mapping[str, Kind | None]
_Named = tuple[tuple[str, Kind | None], ...]
_NO_KEYWORDS: Final[Keywords] = {}
#: Kinds of receivers as events name them, and as the table does.
_RECEIVERS: Final = {"Tensor": "tensor", "number": "int", **facts.KINDS}
#: Receivers whose methods other classes share by name: events of an `OrderedDict` are events of a dict too.
_CONTAINERS: Final = frozenset({"list", "dict", "set", "tuple"})
_ROUNDABOUT: Final = {
    "contextvars.ContextVar": "_contextvars.ContextVar",
    "io.StringIO": "_io.StringIO",
    "pathlib.Path": "pathlib.PosixPath",
    "threading.Lock": "_thread.lock",
}


@dataclass(frozen=True)
class Verdict:
    """Whether a call breaks the graph."""

    #: `always`, `sometimes` or `never` among the ways of calling it that fit.
    breaks: str
    #: The graph-break id that was seen, or nothing.
    id: str = ""
    #: Every way that breaks does so on an input of the graph only.
    only_on_input: bool = False
    fullgraph_accepts: bool = False
    #: What breaks is reading a tensor or array.
    reads_tensor: bool = False
    #: The exception that the call raises under torch.compile and not eagerly, where every way that fits does.
    raises: str = ""


@functools.cache
def key_of(name: str) -> str | None:
    """The key in the table of a name that an event carries; None where no release was asked."""
    known = facts.table().names
    owner, dot, short = name.rpartition(".")
    owner = _ROUNDABOUT.get(owner, owner)
    for key in (facts.canonical(name), f"{_RECEIVERS.get(owner, owner)}#{short}" if dot else name):
        if key in known or overlay.entry(key, facts.table().releases[-1]) is not None:
            return key
    return None


@functools.cache
def answer(key: str, release: str) -> Answer | None:
    """What is known of a name on the release, or on the nearest one that was asked about it."""
    wanted = int(release.split(".")[1])
    for other in sorted(facts.table().releases, key=lambda r: (abs(r - wanted), -r)):
        found = facts.at(f"2.{other}").call(key)
        if found is not None:
            return found
    return None


@functools.cache
def varies(key: str, release: str) -> bool:
    """Whether a name returns one thing in one way of calling and several in another."""
    found = answer(key, release)
    return found is not None and len({form.result.name in ("tuple", "list") for form in found.forms}) == 2


def forms(key: str, release: str, arguments: Kinds, keywords: Keywords = _NO_KEYWORDS) -> tuple[Form, ...]:
    """The ways of calling that were tried and fit the arguments, of a method the receiver first; may be none."""
    return _forms(key, release, tuple(arguments), tuple(keywords.items()))


# A program calls the same few functions with the same few kinds over and over.
@functools.cache
def _forms(key: str, release: str, arguments: tuple[Kind | None, ...], named: _Named) -> tuple[Form, ...]:
    keywords = dict(named)
    wanted = int(release.split(".")[1])
    for other in sorted(facts.table().releases, key=lambda r: (abs(r - wanted), -r)):
        found = facts.at(f"2.{other}").call(key)
        if found is None:
            continue
        fitting = _fitting(found, arguments, keywords)
        if fitting:
            return fitting
        if other == wanted and found.alike:
            return ()  # the same in every way that was tried: no other release knows better
    return ()


def _fitting(found: Answer, arguments: Kinds, keywords: Keywords) -> tuple[Form, ...]:
    fitting = [form for form in found.forms if _fit(form, arguments, keywords)]
    close = [form for form in fitting if _same_ranks(form, arguments)]
    return tuple(close or fitting)


def _fit(form: Form, arguments: Kinds, keywords: Keywords) -> bool:
    given = _given(form, arguments, keywords)
    return given is not None and all(
        kind is None or _could_be(argument.kind, kind) for argument, kind in zip(form.arguments, given, strict=True)
    )


def _given(form: Form, arguments: Kinds, keywords: Keywords) -> Kinds | None:
    """What was given for each argument of a form; None where it is another way of calling."""
    named = [a.label for a in form.arguments if not (a.label == "self" or a.label.isdigit())]
    if len(form.arguments) - len(named) != len(arguments) or set(named) != set(keywords):
        return None
    return (*arguments, *(keywords[label] for label in named))


def _could_be(seen: Kind, given: Kind) -> bool:
    """Whether a value of the kind that was given may be one of the kind that was seen."""
    if seen.name != given.name and not (seen.is_tensor and given.is_tensor):
        return False
    if seen.dtype is not None and given.dtype is not None and seen.dtype != given.dtype:
        return False
    if seen.type_name is not None and given.type_name is not None and seen.type_name != given.type_name:
        return False
    if seen.members and given.members and seen.alike and given.alike:
        return _could_be(seen.members[0], given.members[0])
    return True


def _same_ranks(form: Form, arguments: Kinds) -> bool:
    pairs = zip(form.arguments, arguments, strict=False)
    return all(given is None or given.rank is None or given.rank == a.kind.rank for a, given in pairs)


def verdict(name: str, release: str, arguments: Kinds = (), keywords: Keywords = _NO_KEYWORDS) -> Verdict | None:
    """Whether a call breaks the graph on a release; None where it was never asked."""
    return _verdict(name, release, tuple(arguments), tuple(keywords.items()))


@functools.cache
def _verdict(name: str, release: str, arguments: tuple[Kind | None, ...], named: _Named) -> Verdict | None:
    keywords = dict(named)
    key = key_of(name)
    found = answer(key, release) if key is not None else None
    if key is None or found is None:
        return None
    if key.partition("#")[0] in _CONTAINERS and not _of_such(found, arguments):
        return Verdict("never")  # the method of another class, under the name of the one it is like
    fitting = forms(key, release, arguments, keywords)
    if not fitting or None in (*arguments, *keywords.values()):
        # An error says something about the very arguments: others, or some that nobody knows, may be right.
        fitting = tuple(form for form in fitting or found.forms if form.outcome != "raises")
    breaking = [form for form in fitting if form.fails]
    if not breaking:
        return Verdict("never")
    ids = [form.reason for form in breaking if form.breaks and form.reason and form.reason != "GB?"]
    errors = {form.reason or "" for form in breaking if not form.breaks}
    every = len(breaking) == len(fitting)
    if every and None in (*arguments, *keywords.values()):
        every = not _tried_elsewhere(key, fitting, arguments, keywords)
    return Verdict(
        "always" if every else "sometimes",
        ids[0] if ids else "",
        all(form.only_on_input for form in breaking),
        all(form.fullgraph_accepts for form in breaking),
        all(_reads_tensor(form) for form in breaking),
        "" if any(form.breaks for form in breaking) else min(errors),
    )


def _tried_elsewhere(key: str, fitting: Sequence[Form], arguments: Kinds, keywords: Keywords) -> bool:
    """Whether other releases were asked about arguments that fit too: what is unknown may be one of those."""
    tried = {tuple(a.kind.name for a in form.arguments) for form in fitting}
    for other in facts.table().releases:
        found = facts.at(f"2.{other}").call(key)
        for form in _fitting(found, arguments, keywords) if found is not None else ():
            if not form.fails and tuple(a.kind.name for a in form.arguments) not in tried:
                return True
    return False


def _of_such(found: Answer, arguments: Kinds) -> bool:
    """Whether some form has a receiver like the one that is given, where that is known."""
    receiver = arguments[0] if arguments else None
    if receiver is None:
        return True
    likes = [form.arguments[0].kind for form in found.forms if form.arguments]
    return any(each.name == receiver.name and each.type_name == receiver.type_name for each in likes)


def _reads_tensor(form: Form) -> bool:
    """Whether values of a tensor or array, or its members, are what comes out."""
    takes = any(a.kind.holds_tensors or a.kind.name == "ndarray" for a in form.arguments)
    return takes and (form.reads_values or form.result.holds_tensors or form.result.name in ("range", "iterator"))


def span(name: str, release: str, arguments: Kinds = (), keywords: Keywords = _NO_KEYWORDS) -> str:
    """Since and until which release a call that breaks on this one does so: `until 2.13`, or nothing for on all."""
    known = facts.table().releases
    here = known.index(int(release.split(".")[1]))
    told = [verdict(name, f"2.{other}", arguments, keywords) for other in known]
    breaks = [each is not None and each.breaks != "never" for each in told]
    first, last = here, here
    while first > 0 and breaks[first - 1]:
        first -= 1
    while last < len(known) - 1 and breaks[last + 1]:
        last += 1
    since = f"since 2.{known[first]}" if first > 0 else ""
    until = f"until 2.{known[last]}" if last < len(known) - 1 else ""
    return " ".join(filter(None, (since, until)))


def history(name: str) -> str:
    """On which releases a name breaks the graph: `until 2.13`; nothing where it does on all, or only in some ways."""
    key = key_of(name)
    known = facts.table().releases
    told = [(key is not None and facts.at(f"2.{release}").call(key)) or None for release in known]
    # A way of calling that was tried on one release only says nothing about the others.
    clear = [(release, each) for release, each in zip(known, told, strict=True) if each and each.breaks != "sometimes"]
    asked = [(release, each.breaks == "always") for release, each in clear]
    breaking = [release for release, breaks in asked if breaks]
    if not breaking or len(breaking) == len(asked):
        return ""
    first, last = breaking[0], breaking[-1]
    since = f"since 2.{first}" if first != asked[0][0] else ""
    until = f"until 2.{last}" if last != asked[-1][0] else ""
    return " ".join(filter(None, (since, until)))


_BREAKS: Final = re.compile(" [!~^]")
"""The flags of a way of calling that ends the graph, or the program."""


@functools.cache
def breaking_somewhere() -> tuple[str, ...]:
    """Names, as events carry them, of all that breaks the graph, or raises, on some release in some way of calling."""
    # Read off the text: what is never called need not be parsed.
    keys = [key for key, text in facts.table().names.items() if _BREAKS.search(text) and "@" not in key]
    by_hand = [item.key for item in overlay.ENTRIES if any(map(_BREAKS.search, item.forms))]
    return tuple(dict.fromkeys(name for key in (*keys, *by_hand) for name in (event_name(key), *_also_known(key))))


def _also_known(key: str) -> tuple[str, ...]:
    """A method of a builtin class under the names of the classes that answer like it: `frozenset.union` like `set.union`."""
    owner, method, short = key.partition("#")
    return tuple(
        f"{alias}.{short}" for alias, kind in facts.KINDS.items() if method and kind == owner and "." not in alias
    )


@functools.cache
def breaking_with(id: str) -> tuple[str, ...]:
    """Names, as events carry them, of all that breaks the graph with an id on some release in some way of calling."""
    keys = [key for key, text in facts.table().names.items() if f" !{id}" in text and "__" not in key]
    return tuple(event_name(key) for key in keys)


@functools.cache
def burned(type_: str, release: str | None = None) -> Mapping[str, Places]:
    """The calls that burn a number of a type (int, float) into the graph, and where it stands; without a release: on any."""
    wanted = None if release is None else int(release.split(".")[1])
    found: dict[str, Places] = {}
    for key, text in facts.table().names.items():
        if "#" + type_ in text or key.startswith("math."):
            places = _burned_at(text, type_, wanted, key.startswith("math."))
            if places is not None:
                found[event_name(key)] = places
    return found


_NUMBER: Final = re.compile(r"#(float|int) (\S+) (\S+)")


def _burned_at(text: str, type_: str, release: int | None, math: bool) -> Places | None:
    positions: set[int] = set()
    keywords: set[str] = set()
    every = False
    for kind, place, keyword in _NUMBER.findall(text):
        if kind == type_:
            positions.update([int(place)] if place != "-" else ())
            keywords.update([keyword] if keyword != "-" else ())
            every = every or (place, keyword) == ("-", "-")
    for line in text.split(" ; ") if math else ():
        where, told = facts.where(line)
        if told[0] != "#" and (release is None or facts.holds(where, release)):
            call, *flags = told.split(" ")
            # A function of math takes numbers alone, and Dynamo calls some with the numbers themselves.
            burns = "B" in flags or "X" in flags and type_ == "int"
            every = every or (burns and type_ in call.rpartition(">")[0].split(","))
    if not (positions or keywords or every):
        return None
    return Places(tuple(sorted(positions)), tuple(sorted(keywords)), every)


_EVENT_OWNERS: Final = {"tensor": "Tensor", "module": "torch.nn.Module", **{v: k for k, v in _ROUNDABOUT.items()}}


def event_name(key: str) -> str:
    """The name that an event carries for what has this key."""
    owner, method, short = key.partition("#")
    return f"{_EVENT_OWNERS.get(owner, owner)}.{short}" if method else key
