"""What the answers are worth on labelled data of others: `python -m quality --help`."""
