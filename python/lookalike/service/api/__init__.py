"""The handlers of operations, by subject."""
