"""An index: a folder of documents that grows for years, and answers every question from one ingest.

``store.py`` has the public class. ``catalogue.py`` is the one commit point (SQLite), ``writing.py`` makes changes,
``view.py`` shows one state of the documents, ``tail.py`` holds the newest of them, ``merging.py`` decides which segment
files are merged.
"""
