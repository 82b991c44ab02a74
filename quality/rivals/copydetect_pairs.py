"""Writes the mean similarity of every pair by copydetect: copydetect_pairs.py FOLDER SUFFIX OUT.csv."""

import csv
import sys
from pathlib import Path

import copydetect

folder, suffix, out = sys.argv[1:]
detector = copydetect.CopyDetector(
    test_dirs=[folder], extensions=[suffix], display_t=0, silent=True, autoopen=False, out_file=out + ".html"
)
detector.run()
with open(out, "w", newline="", encoding="utf-8") as lines:
    for row in detector.get_copied_code_list():
        csv.writer(lines).writerow([Path(row[2]).name, Path(row[3]).name, (row[0] + row[1]) / 2])
