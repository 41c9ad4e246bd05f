"""Ask one installed torch: `PYTHON scripts/ask/run.py RAW.json [--questions QUESTIONS.json] [--only REGEX]`.

PYTHON is the interpreter of an environment that has the release. With `--questions` the ways of calling that an earlier
release answered are asked again and only names that it did not have are searched; the answers of two releases are then
to the same questions. Answers are kept as they come: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))
warnings.simplefilter("ignore")

import names  # noqa: E402
import observe  # noqa: E402
import server  # noqa: E402
import torch  # noqa: E402

GROUP = 20
#: Callables that change modules or loggers: each is given fresh ones, and asked alone.
CHANGES_OBJECTS = re.compile(
    r"(module|logging\.Logger|torch\.nn\.parameter\.Parameter|torch\.optim\.\w+)[#@]|torch\.nn\.(utils\.(?!rnn)|init)"
)
HOLDS_TENSOR = re.compile(r"\b[TPN][a-z]\d")
#: Methods that change more than the values of a tensor: asked alone, lest they disturb others.
RESHAPES = re.compile(
    r"#(resize|t_|squeeze|unsqueeze|transpose|swap|as_strided|requires_grad|set_|detach|rename|sparse|retain|apply)"
)


def is_method(key: str) -> bool:
    return "#" in key or "@" in key


def used(form: dict[str, Any]) -> str:
    """The expression, with a use of a plain result: some breaks wait until a number is looked at."""
    return (
        f"({form['source']}) == 0" if form["result"] in ("int", "float", "bool", "complex", "str") else form["source"]
    )


class Asker:
    """The state of one run: the answers so far, and how to get the rest."""

    def __init__(self, raw: Path, questions: dict[str, Any], only: str | None, every: bool = False) -> None:
        self.all = every
        #: Where given, only these names are asked.
        self.keys: set[str] | None = None
        self.raw, self.questions, self.only = raw, questions, only
        self.answers: dict[str, Any] = json.loads(raw.read_text()) if raw.exists() else {}
        self.forms: dict[str, list[dict[str, Any]]] = self.answers.setdefault("forms", {})
        self.answers["torch"] = torch.__version__
        self.answers.setdefault("asked", [])
        self.space = names.namespace()
        self.ear = observe.listen()
        self.saved = time.monotonic()
        self.hands: dict[str, int] = {}

    def save(self, now: bool = False) -> None:
        if now or time.monotonic() - self.saved > 30:
            fresh = self.raw.with_suffix(".part")
            fresh.write_text(json.dumps(self.answers, indent=0, sort_keys=True))
            fresh.replace(self.raw)
            self.saved = time.monotonic()

    def log(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    # ------------------------------------------------------------------ eagerly: which ways of calling work

    def items(self) -> list[names.Item]:
        merged: dict[str, names.Item] = {}
        for item in names.everything(self.space):
            old = merged.get(item.key)
            if old is not None:
                setup = {**old.setup, **item.setup}
                both = tuple(dict.fromkeys(old.sources + item.sources))
                hands = len(both) if old.hands and item.hands else len(old.sources) if old.hands else 0
                enough = max(old.enough, item.enough, hands + 4 if hands else 0)
                item = names.Item(old.key, both, enough, setup, hands)
            merged[item.key] = item
        wanted = re.compile(self.only or "")
        if self.keys is not None:
            merged = {key: item for key, item in merged.items() if key in self.keys}
        self.hands = {key: item.hands and min(item.hands, len(item.sources)) for key, item in merged.items()}
        return [item for key, item in merged.items() if wanted.match(key)]

    def search(self, items: list[names.Item]) -> None:
        """Fill `forms` with what works in eager mode."""
        known = set(self.answers["asked"])
        waiting = [item for item in items if item.key not in known]
        skip: set[str] = set()
        while waiting:
            batch = waiting[:40]
            answers, finished = server.child(lambda b=batch: self.look(b, skip), 20 + 4 * len(batch))  # type: ignore[misc]
            for key, forms in answers:
                self.answers["asked"].append(key)
                if forms:
                    self.forms[key] = forms
            if not finished:
                source = server.tried()
                self.log(f"crashed at {source}")
                if source in skip or not source:
                    self.answers["asked"].append(batch[len(answers)].key)
                    answers.append(None)
                skip.add(source)
            waiting = waiting[len(answers) :]
            self.save()
        self.save(now=True)

    def look(self, batch: list[names.Item], skip: set[str]) -> Iterator[Any]:
        for item in batch:
            known = self.questions.get(item.key)
            if known is None:  # a name that the other release did not have
                yield item.key, list(self.find(item, skip))
            else:
                yield item.key, [self.again_eagerly(item.key, k, skip) for k in self.chosen(item.key, known)]

    def again_eagerly(self, key: str, known: dict[str, Any], skip: set[str]) -> dict[str, Any]:
        """A way of calling that another release answered; `fails` where this one does not."""
        form = self.form(key, known["source"], known.get("setup", {}), skip, known)
        return form or {"source": known["source"], "outcome": "fails"}

    def chosen(self, key: str, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Of the ways that another release answered: the first, those written by hand, those that fared otherwise."""
        if self.all:
            return known
        first = str(known[0].get("why")) if known else ""
        hands = self.hands.get(key, 0)
        return [k for i, k in enumerate(known) if i == 0 or i < hands or str(k.get("why")) != first]

    def find(self, item: names.Item, skip: set[str]) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()
        count = 0
        end = time.monotonic() + 4
        for place, source in enumerate(item.sources):
            if count >= item.enough or time.monotonic() > end:
                break
            setup = {n: text for n, text in item.setup.items() if source.startswith(f"{n}(")}
            form = self.form(item.key, source, setup, skip)
            if form is None:
                continue
            shape = re.sub(r"(?<=[TN][a-z])\d", "", f"{form['arguments']} {form['result']}")
            shape += " number" if re.search(r"(?<![\w.'])[kf]\b(?!=)", source) else ""
            if shape in seen and place >= item.hands:
                continue
            seen.add(shape)
            count += 1
            yield form

    def form(
        self, key: str, source: str, setup: dict[str, str], skip: set[str], known: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """One way of calling, where it works; what follows values is taken from another release that was asked."""
        if source in skip:
            return None
        server.trying(source)
        space = dict(self.space)
        if CHANGES_OBJECTS.match(key):
            space |= names.objects()
        try:
            for name, text in setup.items():
                torch.manual_seed(0)
                space[name] = eval(text, space)
            question = observe.Question(source, space)
            if known is None and observe.works(question) is None:
                return None
            observe.alarm(10)
            seen = observe.eager(question, is_method(key), follows=known is None)
            observe.alarm(0)
            for name in ("follows", "reads", "unsteady"):
                if known is not None and name in known:
                    seen[name] = known[name]
        except BaseException:
            return None
        return {"source": source, **({"setup": setup} if setup else {}), **seen}

    # ------------------------------------------------------------------ under Dynamo

    def compile(self) -> None:
        """Many calls in one program: the log names the line of the first break, marks in the graph vouch for the rest."""
        wanted = re.compile(self.only or "")
        keys = [key for key in sorted(self.forms) if wanted.match(key) and (self.keys is None or key in self.keys)]
        self.ask([(key, form) for key in keys for form in self.forms[key][:2]])
        for key in keys:  # two alike: a third is enough
            first = self.forms[key][:2]
            if key not in self.questions and len({str(f.get("why")) for f in first}) == 1 and first[0].get("why"):
                self.forms[key] = self.forms[key][: max(3, self.hands.get(key, 0))]
        self.ask([(key, form) for key in keys for form in self.forms[key]])
        self.deepen(keys)

    def ask(self, pairs: list[tuple[str, dict[str, Any]]]) -> None:
        """In groups; forms that write their arguments are apart, so that they do not disturb others."""
        waiting = [pair for pair in pairs if "outcome" not in pair[1]]
        calm = [pair for pair in waiting if not pair[1]["mutates"] and not CHANGES_OBJECTS.match(pair[0])]
        expected = {key: {f["source"]: f.get("outcome") for f in forms} for key, forms in self.questions.items()}
        easy = [(key, form) for key, form in calm if expected.get(key, {}).get(form["source"]) == "traced"]
        hard = [(key, form) for key, form in calm if expected.get(key, {}).get(form["source"]) != "traced"]
        groups = [easy[i : i + 2 * GROUP] for i in range(0, len(easy), 2 * GROUP)]
        groups += [hard[i : i + GROUP] for i in range(0, len(hard), GROUP)]
        writing = [pair for pair in waiting if pair[1]["mutates"] and not CHANGES_OBJECTS.match(pair[0])]
        values = [pair for pair in writing if not RESHAPES.search(pair[0])]
        groups += [values[i : i + 10] for i in range(0, len(values), 10)]
        groups += [[pair] for pair in writing if RESHAPES.search(pair[0])]
        groups += [[pair] for pair in waiting if CHANGES_OBJECTS.match(pair[0])]
        self.log(f"{len(waiting)} forms in {len(groups)} groups")
        while groups:
            batch = [groups.pop(0)]
            while groups and len(batch) < 12 and len(groups[0]) == 1:
                batch.append(groups.pop(0))
            size = sum(map(len, batch))
            answers, finished = server.child(lambda b=batch: self.judge(b), 20 + 10 * size)  # type: ignore[misc]
            flat = [pair for group in batch for pair in group]
            for index, found in answers:
                flat[index][1].update(found)
            left = [pair for pair in flat if "outcome" not in pair[1]]
            if left and not finished and size == 1:
                flat[0][1]["outcome"] = "crashes"
            elif left:
                half = (len(left) + 1) // 2
                groups[:0] = [part for part in (left[:half], left[half:]) if part]
            self.save()
        self.save(now=True)

    def judge(self, batch: list[list[tuple[str, dict[str, Any]]]]) -> Iterator[tuple[int, dict[str, Any]]]:
        space = dict(self.space)
        flat = [pair for group in batch for pair in group]
        for _, form in flat:
            for name, text in form.get("setup", {}).items():
                torch.manual_seed(0)
                space[name] = eval(text, space)
        start, waiting = 0, []
        for group in batch:
            waiting.append(list(range(start, start + len(group))))
            start += len(group)
        waiting.reverse()
        while waiting:
            places = waiting.pop()
            if CHANGES_OBJECTS.match(flat[places[0]][0]):
                space |= names.objects()
            server.trying(flat[places[0]][1]["source"])
            found = observe.compiled([used(flat[i][1]) for i in places], space, self.ear)
            settled, rest = self.settle(found, places)
            for i, told in settled:
                again = self.numbers(flat[i][1]["source"], space) if told["outcome"] == "traced" else {}
                yield i, told | again
            if rest and settled:
                waiting.append(rest)
            elif rest:
                half = len(rest) // 2
                waiting += [rest[half:], rest[:half]]

    def settle(self, found: observe.Heard, places: list[int]) -> tuple[list[tuple[int, dict[str, Any]]], list[int]]:
        """What a program has told of its lines, and the lines to ask again: up to the first break all was traced."""
        if len(places) == 1:
            why = [text for told in found.breaks.values() for text in told]
            outcome = "breaks" if why else "raises" if found.raises else "traced" if found.whole else "skipped"
            return [
                (places[0], {"outcome": outcome, **({"why": why or found.raises} if why or found.raises else {})})
            ], []
        line = min(found.breaks, default=-1)
        if line >= 0:
            traced: list[tuple[int, dict[str, Any]]] = [(i, {"outcome": "traced"}) for i in places[:line]]
            return [*traced, (places[line], {"outcome": "breaks", "why": found.breaks[line]})], places[line + 1 :]
        if found.raises or found.breaks or not found.whole:
            return [], places
        return [(i, {"outcome": "traced"}) for i in places], []

    def numbers(self, source: str, space: dict[str, Any]) -> dict[str, Any]:
        return observe.numbers(source, space, self.ear) if re.search(r"(?<![\w.'])[kf]\b(?!=)", source) else {}

    def deepen(self, keys: list[str]) -> None:
        """Of each break once: does fullgraph accept it, does it break on a tensor made in the graph too?

        Only of calls with a tensor; and what the release of the questions breaks on for good is not asked again.
        """
        work = []
        for key in keys:
            seen = set()
            for form in self.forms[key]:
                twin = next((f for f in self.questions.get(key, ()) if f["source"] == form["source"]), {})
                settled = twin.get("fullgraph") == "refuses" and twin.get("made", "breaks") == "breaks"
                if settled or "fullgraph" in form or not HOLDS_TENSOR.search(str(form.get("arguments"))):
                    continue
                if form.get("outcome") == "breaks" and str(form["why"]) not in seen:
                    seen.add(str(form["why"]))
                    work.append((key, form))
        self.log(f"{len(work)} breaks looked into")
        for place in range(0, len(work), 30):
            part = work[place : place + 30]
            answers, _ = server.child(lambda p=part: self.again(p), 20 + 8 * len(part))  # type: ignore[misc]
            for index, told in answers:
                part[index][1].update(told)
            self.save()
        for key in keys:
            for form in self.forms[key]:
                twin = next((f for f in self.forms[key] if "fullgraph" in f and f["why"] == form.get("why")), {})
                form.update({name: twin[name] for name in ("fullgraph", "made") if name in twin})
        self.save(now=True)

    def again(self, part: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
        for index, (key, form) in enumerate(part):
            space = dict(self.space) | (names.objects() if CHANGES_OBJECTS.match(key) else {})
            for name, text in form.get("setup", {}).items():
                space[name] = eval(text, space)
            full = observe.compiled([used(form)], space, self.ear, full=True)
            told = {"fullgraph": "traced" if full.clean else "refuses"}
            if key.startswith("tensor#") and re.match(r"\w+\.", form["source"]):
                made = re.sub(r"^(\w+)\.", r"\1.clone().", form["source"])
                told["made"] = "traced" if observe.compiled([made], space, self.ear).clean else "breaks"
            yield index, told

    def forget(self) -> None:
        """Leave out what was not asked to the end, so that a neighbour may stand in for it."""
        for key in [key for key, forms in self.forms.items() if any("outcome" not in form for form in forms)]:
            del self.forms[key]
            self.answers["asked"].remove(key)
        self.save(now=True)

    # ------------------------------------------------------------------ numbers that are burned in

    def burned(self, rows: list[dict[str, Any]]) -> None:
        """Which Python numbers compile again for each new value."""
        answers = self.answers.setdefault("numbers", {})
        waiting = [row for row in rows if _question(row) not in answers]
        while waiting:
            batch = waiting[:40]
            found, finished = server.child(lambda b=batch: self.count(b), 30 + 10 * len(batch))  # type: ignore[misc]
            for body, pattern in found:
                answers[body] = pattern
            if not finished:
                answers.setdefault(_question(batch[min(len(found), len(batch) - 1)]), "crashes")
            waiting = [row for row in waiting if _question(row) not in answers]
            self.save()
        self.save(now=True)

    def count(self, rows: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
        import burned

        tensors = burned.inputs()
        for row in rows:
            yield _question(row), burned.judge(row, tensors, self.ear)


def _question(row: dict[str, Any]) -> str:
    """The same text is asked with an int and with a float."""
    return f"{row['type']} {row['body']}"


def changed(older: dict[str, Any], newer: dict[str, Any]) -> set[str]:
    """The names that two releases do not answer alike: what lies between need be asked about these only."""
    found = set(older["asked"]) ^ set(newer["asked"])
    for key in set(older["asked"]) & set(newer["asked"]):
        before = {form["source"]: form for form in older["forms"].get(key, ())}
        after = {form["source"]: form for form in newer["forms"].get(key, ())}
        pairs = [(before[source], after[source]) for source in before.keys() & after.keys()]
        told = [(a[name], b[name]) for a, b in pairs for name in ("outcome", "fullgraph") if name in a and name in b]
        if any(a != b for a, b in told) or bool(before) != bool(after):
            found.add(key)
    return found


def warm() -> None:
    """What the first compilation costs is paid once, before any fork."""
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    for body in (lambda x: x + 1, lambda x: [x.sum().item(), x + 1][1], lambda x: torch.linalg.norm(x)):
        torch.compile(body, backend="eager")(torch.ones(4))
    torch._dynamo.reset()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--questions", type=Path, help="the raw answers of the release whose ways of calling are asked")
    parser.add_argument("--only", help="keys that this pattern matches")
    parser.add_argument(
        "--between", type=Path, nargs=2, help="raw answers of an older and a newer release: only what changed"
    )
    parser.add_argument("--every", action="store_true", help="with --questions: every way, not a choice of them")
    parser.add_argument(
        "--numbers", type=Path, help="call forms with a Python number, as benchmarks/specialised.json has them"
    )
    parser.add_argument("--eager", action="store_true", help="stop before Dynamo is asked")
    options = parser.parse_args()
    raw = options.raw.resolve()
    before = json.loads(options.questions.read_text()) if options.questions else {"forms": {}, "asked": []}
    questions = {key: before["forms"].get(key, []) for key in before["asked"]}
    rows = json.loads(options.numbers.read_text())["rows"] if options.numbers else []
    os.chdir(tempfile.mkdtemp(prefix="ask"))
    asker = Asker(raw, questions, options.only, options.every)
    if options.between:
        older, newer = (json.loads(path.read_text()) for path in options.between)
        asker.keys = changed(older, newer)
    warm()
    items = asker.items()
    asker.log(f"torch {torch.__version__}: {len(items)} names")
    asker.search(items)
    asker.log(f"{len(asker.forms)} answered, {sum(map(len, asker.forms.values()))} forms")
    if not options.eager:
        asker.compile()
        if options.between:
            asker.forget()
        asker.burned(rows)
    asker.log("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
