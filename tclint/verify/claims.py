"""What a finding about recompiles says will change between two calls, and whether a guard of Dynamo's speaks of that.

Read from the finding's own words: the names between backquotes, and the kind of thing they are said to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tclint.model.finding import Finding

_NAME = re.compile(r"`([^`]+)`")
_PLAIN = re.compile(r"^(?:self\.)?[A-Za-z_]\w*$")
_PHRASES = re.compile(r"(size|stride|dtype|rank) mismatch|\.(size|stride)\(\)|at index")
"""Words of Dynamo's own, which are no names of the program's."""
_KINDS: tuple[tuple[str, str, str], ...] = (
    # kind, words of a finding, words of a guard
    ("stride", r"\bstrides?\b|contiguous|memory format|layout", r"stride"),
    ("size", r"\bsizes?\b|\bshapes?\b|\blengths?\b|\bbatch\b", r"size mismatch|\.size\(\)|\.shape|rank mismatch"),
    ("keys", r"\bholds changes\b|\bkeys change\b", r"\bkeys\b|dict_contains|\blen\(|\bin\b"),
    ("dtype", r"\bdtype|autocast", r"dtype|autocast"),
    ("mode", r"no_grad|grad mode|inference_mode|requires_grad", r"grad_mode|GRAD_MODE|requires_grad|inference"),
    ("training", r"\.train\(\)|\.eval\(\)|training mode", r"training"),
)


@dataclass(frozen=True, slots=True)
class Claim:
    names: tuple[str, ...] = ()
    """`red_dim`, `self.cache`: as the finding writes them."""
    kinds: frozenset[str] = frozenset()

    @property
    def is_known(self) -> bool:
        return bool(self.names or self.kinds)


def claim_of(finding: Finding) -> Claim:
    text = _NAME.sub("", finding.message)
    names = tuple(name for name in _NAME.findall(finding.message) if _PLAIN.match(name))
    return Claim(names, frozenset(kind for kind, words, _ in _KINDS if re.search(words, text, re.IGNORECASE)))


def is_about(reason: str, claim: Claim) -> bool:
    """Whether a guard that failed is one that the claim speaks of. Everything is about a claim that says nothing."""
    if not claim.is_known:
        return True
    told = reason.partition("  #")[0]
    mismatch = re.search(r"^[\d/: ]*tensor '.*?' (size|stride|dtype|rank) mismatch", told)
    if mismatch and mismatch[1] not in claim.kinds and not {"rank", "size"} >= {mismatch[1], *claim.kinds}:
        # A tensor of that name has another shape: that is not what was said of it.
        return False
    named = _PHRASES.sub(" ", told)
    if any(re.search(rf"\b{re.escape(name.removeprefix('self.'))}\b", named) for name in claim.names):
        return True
    return any(re.search(guard, told) for kind, _, guard in _KINDS if kind in claim.kinds)


_OUTCOMES: tuple[tuple[str, frozenset[str]], ...] = (
    # words of a finding, what then happens to the graphs
    (r"overwrit", frozenset({"error", "wrong"})),
    (r"\brecord(?:s|ed)\b", frozenset({"rerecord", "skip", "partition"})),
)


def is_claimed(finding: Finding, outcome: str) -> bool:
    """Whether what happened to CUDA graphs is what a finding about them speaks of: a graph that is skipped is no output that
    was overwritten. Everything is, where it says neither."""
    said = [outcomes for words, outcomes in _OUTCOMES if re.search(words, finding.message, re.IGNORECASE)]
    return not said or any(outcome in outcomes for outcomes in said)


def is_varied(varied: Iterable[str], claim: Claim) -> bool:
    """Whether a sequence of calls changed what the claim speaks of, so that its silence says something."""
    known = set(varied)
    if "keys" in claim.kinds:
        # What a container holds: another size of the tensors in it is no other container; another length of it is.
        return "keys" in known or ("size" in known and bool(known & {*claim.names}))
    return bool(known & {*claim.names, *claim.kinds})
