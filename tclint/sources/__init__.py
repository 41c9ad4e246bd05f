"""Files as they are on disk: which ones, their text, their trees, their notebook cells."""
