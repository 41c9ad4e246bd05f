"""The rules, one module each. The engine finds them by listing this folder."""
