#!/usr/bin/env Rscript
suppressPackageStartupMessages({
  library(methods)
  requireNamespace("utils", quietly = TRUE)
})

# A random walk on a lattice, as a class with methods.
setClass("Walk", representation(x = "integer", y = "integer", alive = "logical"))

setGeneric("step", function(object, ...) standardGeneric("step"))

setMethod("step", signature("Walk"), function(object, bias = c(0.25, 0.25, 0.25, 0.25), ...) {
  stopifnot(abs(sum(bias) - 1) < 1e-9, object@alive)
  way <- sample(4L, 1L, prob = bias)
  move <- switch(way, c(1L, 0L), c(-1L, 0L), c(0L, 1L), c(0L, -1L))
  object@x <- object@x + move[[1]]
  object@y <- object@y + move[[2]]
  if (xor(object@x > 50L, object@y > 50L)) object@alive <- FALSE
  object
})

distance <- \(w) sqrt(w@x^2 + w@y^2)

walk_many <- function(n, steps = 1e3) {
  walks <- replicate(n, new("Walk", x = 0L, y = 0L, alive = TRUE), simplify = FALSE)
  repeat {
    walks <- lapply(walks, function(w) if (w@alive) step(w) else w)
    steps <- steps - 1
    alive <- vapply(walks, slot, logical(1), name = "alive")
    if (steps <= 0 || !any(alive)) break
  }
  walks |> vapply(distance, numeric(1)) |> unlist()
}

`%+%` <- function(a, b) paste0(a, b)

set.seed(0x2A)
far <- walk_many(25)
fit <- lm(far ~ seq_along(far) + I(seq_along(far)^2), weights = NULL)
mat <- matrix(far, nrow = 5, byrow = TRUE) %*% diag(5)
mat[mat > 10 & !is.na(mat)] <- NA_real_
dimnames(mat) <- list(letters[1:5], NULL)
out <- if (interactive()) "screen" else 'walk' %+% ".pdf"
if (out != "screen") {
  grDevices::pdf(out, width = 7, height = 5)
  on.exit(grDevices::dev.off(), add = TRUE)
}
plot(ecdf(far), main = expression(sqrt(x^2 + y^2)), xlim = c(0, Inf))
print(summary(fit)$r.squared, digits = 3)
saveRDS(list(far = far, mat = mat), file = r"(walk.rds)")
