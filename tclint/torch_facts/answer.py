"""Everything that is known of one callable or attribute on one release."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tclint.torch_facts.form import Form
from tclint.torch_facts.kind import Kind


@dataclass(frozen=True)
class Burned:
    """A Python number that is burned into the graph: each new value compiles again."""

    #: int or float
    type: str
    #: Where it stands among the positional arguments (of a method: without the receiver); None for a keyword only.
    position: int | None
    keyword: str | None


@dataclass(frozen=True)
class Answer:
    """What was seen of one name, in every way of calling it that was tried."""

    name: str
    forms: tuple[Form, ...]
    burned: tuple[Burned, ...] = ()
    #: Why a person wrote this and not the asking; None for what was asked.
    by_hand: str | None = None

    @functools.cached_property
    def result(self) -> Kind | None:
        """What it returns in every way that was tried, as far as these agree; None where they do not."""
        if not self.forms:
            return None
        joined: Kind | None = self.forms[0].result
        for form in self.forms[1:]:
            joined = joined.joined(form.result) if joined is not None else None
        return joined

    @functools.cached_property
    def breaks(self) -> str:
        """`always`, `sometimes` or `never` among the ways that were tried; an exception is not a break."""
        told = {form.breaks for form in self.forms}
        return "never" if True not in told else "sometimes" if False in told else "always"

    @property
    def alike(self) -> bool:
        """Whether all the ways that were tried fare the same under Dynamo."""
        return len({form.fails for form in self.forms}) == 1

    @property
    def ids(self) -> tuple[str, ...]:
        """The graph-break ids that were seen."""
        return tuple(sorted({form.reason for form in self.forms if form.outcome == "breaks" and form.reason}))

    @property
    def raises(self) -> str | None:
        """The exception under torch.compile, where every way raises it."""
        told = {form.reason if form.outcome == "raises" else None for form in self.forms}
        return told.pop() if len(told) == 1 else None

    @property
    def shape_follows_values(self) -> bool:
        return any(form.shape_follows_values for form in self.forms)

    @property
    def reads_values(self) -> bool:
        return any(form.reads_values for form in self.forms)

    @property
    def mutates(self) -> frozenset[str]:
        """Labels of arguments that some way of calling writes."""
        return frozenset(label for form in self.forms for label in form.mutates)

    @property
    def aliases(self) -> frozenset[str]:
        """Labels of arguments whose storage the result may share."""
        return frozenset(label for form in self.forms for label in form.aliases)

    def matching(self, arguments: Sequence[Kind | None], keywords: Sequence[str] = ()) -> tuple[Form, ...]:
        """The forms with these arguments, of a method the receiver first: exactly, else of any rank, else by name only.

        None stands for an argument of unknown kind and matches any.
        """
        alike = [form for form in self.forms if _same_call(form, len(arguments), keywords)]
        for closeness in (_exactly, _any_rank, _by_name):
            found = tuple(form for form in alike if _fits(form, arguments, closeness))
            if found:
                return found
        return ()

    def result_for(self, arguments: Sequence[Kind | None], keywords: Sequence[str] = ()) -> Kind | None:
        """What it returns for such arguments; None where that was not seen, or not always the same."""
        joined: Kind | None = None
        for place, form in enumerate(self.matching(arguments, keywords)):
            joined = form.result if place == 0 else joined.joined(form.result) if joined is not None else None
        return joined


def _same_call(form: Form, positional: int, keywords: Sequence[str]) -> bool:
    named = [a.label for a in form.arguments if not (a.label == "self" or a.label.isdigit())]
    return len(form.arguments) - len(named) == positional and set(named) == set(keywords)


def _fits(form: Form, arguments: Sequence[Kind | None], closeness: Callable[[Kind, Kind], bool]) -> bool:
    pairs = zip(form.arguments, arguments, strict=False)
    return all(given is None or closeness(argument.kind, given) for argument, given in pairs)


def _exactly(seen: Kind, given: Kind) -> bool:
    return seen == given


def _any_rank(seen: Kind, given: Kind) -> bool:
    return seen.name == given.name and (given.dtype is None or seen.dtype == given.dtype)


def _by_name(seen: Kind, given: Kind) -> bool:
    return seen.name == given.name or (seen.is_tensor and given.is_tensor)
