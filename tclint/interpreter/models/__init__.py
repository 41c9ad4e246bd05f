"""What libraries do with abstract values: one module for each library."""
