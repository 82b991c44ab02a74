"""Fingerprints within a Hamming distance: tables in memory and on disk, and files of fingerprints."""
