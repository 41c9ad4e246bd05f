"""A configuration and a part of a model that nobody described."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from tclint.verify import guess
from tclint.verify.settings_read import Read


class Settings:
    """Stands in for a config object nobody described: answers each attribute with what its name suggests, and what the
    file that reads it does with it."""

    def __init__(self, read: Read | None = None, **given: Any) -> None:
        self.__dict__.update(given)
        self.__dict__["_read"] = read

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = self.__dict__[name] = self._answer(name)
        return value

    def read_as(self, **more: str) -> Settings:
        """The same with one more name among those that hold others, are counted or are mapped."""
        read: Read = self.__dict__["_read"] or Read()
        known = {key: getattr(read, key) | {name} for key, name in more.items()}
        return Settings(replace(read, **known))

    def _answer(self, name: str) -> Any:
        read: Read | None = self.__dict__["_read"]
        if read is not None and name in read.holders:
            return Settings(read)
        if read is not None and name in read.mapped | (read.texts - read.compared.keys()):
            return read.value(name)
        value = guess.number_for(name)
        if value is None or (read is not None and name in read.compared):
            if guess.is_flag(name):
                return False
            if read is not None and (name in read.compared or not guess.word_for(name)):
                return read.value(name)
            if word := guess.word_for(name):
                return word
            raise AttributeError(f"nothing is known of the setting {name!r}")
        if guess.is_flag(name) and not isinstance(value, int):
            return False
        if read is not None and name in read.counted and isinstance(value, int):
            return [value] * 2
        return value

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    __getitem__ = __getattr__

    def __contains__(self, name: str) -> bool:
        return guess.number_for(name) is not None


class Through(nn.Module):  # type: ignore[misc]
    """Stands in for a model that is an argument: hands on the first tensor that it is given, whatever comes with it.

    It has the attributes that somebody asked for, `parts`, and so have those of them that are no numbers.
    """

    def __init__(self, parts: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.parts = parts

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__.get("parts", ()):
            return super().__getattr__(name)
        number = guess.number_for(name)
        return Through(self.parts) if number is None else number

    def extra_repr(self) -> str:
        return ", ".join(sorted(self.parts))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Tensor):
                return value
        return args[0] if args else None
