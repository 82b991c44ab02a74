"""What `compare` answers, computed slowly from its definition: every pair is aligned, nothing is filtered or limited.

One file for each part of the definition: submissions as tokens (`entries`), what they weigh (`weights`), how unusual
they are (`bits`), what counts (`tiles`), what it is worth (`scores`), what is strong by itself (`strong`), what is
told (`passages`), and where (`lists`).
"""

from oracles.compare.entries import Handed as Handed
from oracles.compare.entries import Source as Source
from oracles.compare.lists import Answer as Answer
from oracles.compare.lists import compare as compare
