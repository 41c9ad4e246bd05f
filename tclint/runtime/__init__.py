"""Helpers for people's own programs. They stand on torch alone; the linter never imports them."""
