"""A run: from files to a report."""
