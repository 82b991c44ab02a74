"""Surfaces that people know from other packages, over our own sketches."""
