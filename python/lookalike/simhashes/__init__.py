"""Simhash fingerprints of texts and of whole corpora."""
