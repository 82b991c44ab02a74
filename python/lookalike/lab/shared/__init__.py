"""What several experiments share: corpora, outcomes, plots."""
