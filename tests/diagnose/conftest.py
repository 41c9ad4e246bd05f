"""What the tests of diagnose share: a result to report."""

from __future__ import annotations

import pytest
from diagnosis_helpers import sample

from tclint.diagnose.measurement import Diagnosis


@pytest.fixture
def diagnosis() -> Diagnosis:
    return sample()
