"""Experiments of the winnowing paper (Schleimer, Wilkerson, Aiken 2003)."""
