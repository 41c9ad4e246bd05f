"""The abstract interpreter: a static Dynamo."""
