"""One module per data set: `COHORT` says what is compared with what, `measure` how the answer is scored."""
