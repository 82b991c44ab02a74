"""Experiments on resemblance and its sketches (Broder 1997, 2000)."""
