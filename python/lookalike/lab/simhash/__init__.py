"""Experiments on simhash and Hamming search (Manku, Jain, Das Sarma 2007)."""
