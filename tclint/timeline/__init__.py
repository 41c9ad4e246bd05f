"""What happens between two calls of the same compiled code, and how many programs Dynamo makes of it."""
