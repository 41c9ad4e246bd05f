"""Effects that a rule may ask for: `facts.at(version).names(effect.reads_number)` names every callable that has it."""

from __future__ import annotations

from tclint.torch_facts.answer import Answer


def reads_number(answer: Answer) -> bool:
    """The result is a Python number read from a tensor or array."""
    return any(form.reads_values and form.result.is_number for form in answer.forms)


def reads_values(answer: Answer) -> bool:
    """The result is a Python value (a number, text, a list of them) read from a tensor or array."""
    return answer.reads_values


def shape_follows_values(answer: Answer) -> bool:
    """The size of the result depends on the data."""
    return answer.shape_follows_values


def always_breaks(answer: Answer) -> bool:
    """Breaks the graph in every way of calling that was tried, whatever it is called on."""
    return answer.breaks == "always" and not all(form.only_on_input for form in answer.forms)


def breaks(answer: Answer) -> bool:
    """Breaks the graph in some way of calling that was tried."""
    return answer.breaks != "never"


def raises(answer: Answer) -> bool:
    """Fine eagerly, an exception under torch.compile, in some way of calling."""
    return any(form.outcome == "raises" for form in answer.forms)


def mutates(answer: Answer) -> bool:
    """Writes one of its arguments."""
    return bool(answer.mutates)


def aliases(answer: Answer) -> bool:
    """The result may share storage with an argument."""
    return bool(answer.aliases)


def unsteady(answer: Answer) -> bool:
    """Not the same twice for the same arguments: random, a clock, an address."""
    return any(form.unsteady for form in answer.forms)
