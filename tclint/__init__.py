"""tclint: finds torch.compile hazards in source, without torch, and proves them under Dynamo."""

# A literal, not importlib.metadata: reading the metadata costs more than the rest of `tclint --version`.
__version__ = "0.1.0"
