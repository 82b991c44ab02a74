"""Programs around the documentation: its examples, its pictures and the pages that follow from the code."""
