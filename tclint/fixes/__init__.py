"""Repairs: where an edit goes, what may be moved, how edits are applied."""
