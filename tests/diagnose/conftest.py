"""What the tests of diagnose share: a result to report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from diagnosis_helpers import sample

from tclint.diagnose.measurement import Diagnosis
from tclint.verify.process import stop_servers


@pytest.fixture
def diagnosis() -> Diagnosis:
    return sample()


@pytest.fixture(scope="session")
def servers() -> Iterator[None]:
    """One process with torch loaded, and one cache of what it compiled, for all the diagnoses of a worker: loading and
    compiling are most of their time. What measures a first step empties the caches itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tclint.diagnose.session.stop_servers", lambda: None)
        yield
    stop_servers()
