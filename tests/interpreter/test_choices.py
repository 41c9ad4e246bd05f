"""What a helper that takes a value or a way to make one gives: the right one of the two."""

from __future__ import annotations

from lintkit import Project

NET = """
    from torch import nn
    from torch.nn import Module

    def default(value, make):
        if value is not None:
            return value
        return make() if not isinstance(make, Module) and callable(make) else make

    class Net(Module):
        def __init__(self, dim, inner: Module | None = None):
            super().__init__()
            self.inner = default(inner, lambda: nn.Linear(dim, dim))

        def forward(self, x):
            return self.inner(x)
"""


def test_a_factory_that_is_called_when_the_module_is_built_is_not_called_in_forward(project: Project) -> None:
    assert project.write({"net.py": NET}).lint().findings == ()


def test_an_imported_class_is_not_none(project: Project) -> None:
    source = """
        import torch
        try:
            from cache import Cache
        except ImportError:
            Cache = None

        @torch.compile
        def f(x):
            if Cache is None:
                print("install cache")
            return x
    """
    assert project.write({"a.py": source}).lint().findings == ()
