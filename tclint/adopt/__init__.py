"""Code that has findings already: baselines, suppressions, changed lines."""
