"""The rules as a set: what a rule is, where rules come from."""
