"""Choosing filters, sketch sizes and Hamming tables for a goal."""
