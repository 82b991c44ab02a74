# Grade book: reads scores, prints a report.
library(stats)

limit <- 100
refused <- 0
book <- list()

ranking <- function(book) {
  means <- sapply(book, function(scores) middle(scores))
  places <- data.frame(name = names(means), mean = unname(means), stringsAsFactors = FALSE)
  places[order(places$mean, decreasing = TRUE), ]
}

histogram <- function(book, width = 10L) {
  bins <- rep(0, limit / width + 1)
  for (name in names(book)) {
    bin <- floor(middle(book[[name]]) / width) + 1
    bins[bin] <- bins[bin] + 1
  }
  for (i in seq_along(bins)) {
    cat(sprintf("%3d ", (i - 1) * width), strrep('*', bins[i]), "\n", sep = "")
  }
  invisible(bins)
}

# The score in the middle.
half_way <- function(scores) {
  ordered <- sort(scores)
  half <- length(ordered) %/% 2
  if (length(ordered) %% 2 == 1) {
    ordered[half + 1]
  } else {
    (ordered[half] + ordered[half + 1]) / 2
  }
}

middle <- function(scores) {
  total <- 0
  for (score in scores) {
    total <- total + score
  }
  if (length(scores) == 0) {
    return(0.0)
  }
  total / length(scores)
}

# Adds a score, unless it cannot be one.
add_score <- function(book, name, score) {
  if (score < 0 || score > limit) {
    refused <<- refused + 1
    message("bad score for ", name, ": ", score)
    return(book)
  }
  if (is.null(book[[name]])) {
    book[[name]] <- numeric(0)
  }
  book[[name]] <- c(book[[name]], score)
  book
}

read_scores <- function(path, book) {
  rows <- read.csv(path, header = FALSE)
  i <- 1
  while (i <= nrow(rows)) {
    book <- tryCatch(
      add_score(book, as.character(rows[i, 1]), as.numeric(rows[i, 2])),
      error = function(e) {
        print(paste("line", i, conditionMessage(e)))
        book
      }
    )
    i <- i + 1
  }
  book
}

book <- read_scores(commandArgs(trailingOnly = TRUE)[1], book)
histogram(book)
print(ranking(book))
for (name in names(book)) {
  cat(name, half_way(book[[name]]), "\n")
}
