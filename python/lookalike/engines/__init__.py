"""Engines say where the work runs, never what is computed."""
