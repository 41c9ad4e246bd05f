"""`tclint diagnose`: what hazards cost, and whether compiling pays at all; measured, each diagnostic in its own process.

Nothing here imports torch but the files named `child*.py`, which only ever run in verify's child processes.
"""
