"""Where a new import goes, and what a module is called already."""

from __future__ import annotations

import ast

import pytest

from tclint.fixes.imports import first_line, import_statement, module_aliases
from tclint.program import Program

PLACES = {
    "": ("torch", 1, "import torch\n"),
    "x = 1\n": ("torch", 1, "import torch\n"),
    '"""Doc."""\nx = 1\n': ("torch", 2, "\nimport torch"),
    "from __future__ import annotations\nx = 1\n": ("torch", 2, "\nimport torch"),
    "import ast\nimport re\n\nx = 1\n": ("math", 2, "import math"),
    "import ast\n\nimport numpy\n": ("torch", 3, "import torch"),
    "import ast\n\nx = 1\n": ("torch", 2, "\nimport torch"),
    "import numpy\n": ("math", 1, "import math\n"),
    "@d\ndef f(): ...\n": ("math", 1, "import math\n"),
}


@pytest.mark.parametrize("source", PLACES)
def test_an_import_goes_where_it_belongs(source: str) -> None:
    module, line, text = PLACES[source]
    assert import_statement(ast.parse(source).body, module) == (line, text)


def test_a_decorated_function_begins_with_its_decorators() -> None:
    assert first_line(ast.parse("\n@a\n@b\ndef f(): ...\n").body[0]) == 2


def test_the_names_of_imported_modules() -> None:
    data = b"import torch\nimport torch as th\nfrom torch import nn\nimport os.path\n"
    (module,) = Program.build([("m.py", "/m.py", data, True)]).modules
    assert module.index(module_aliases) == {"torch": ["torch", "th"], "os": ["os"]}
    assert module.index(module_aliases) is module.index(module_aliases)
