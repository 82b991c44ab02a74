"""Resemblance and containment: exact, estimated from sketches, and of two documents."""
