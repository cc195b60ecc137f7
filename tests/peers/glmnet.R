# glmnet on every row of jobs.tsv: reads X and y as doubles, writes intercept and weights.
suppressMessages(library(glmnet))
glmnet.control(fdev = 0, devmax = 1 - 1e-12, pmin = 1e-15)
setwd(commandArgs(TRUE)[1])
jobs <- read.delim("jobs.tsv", colClasses = c(job = "character", x = "character"))
for (k in seq_len(nrow(jobs))) {
  j <- jobs[k, ]
  x <- matrix(readBin(j$x, "double", j$n * j$p), j$n, j$p)
  y <- readBin(paste0(j$job, ".y"), "double", j$n)
  squared <- j$loss == "squared"
  # glmnet divides y by its standard deviation, which the squared part of its penalty feels
  s <- if (squared) sqrt(mean((y - j$intercept * mean(y))^2)) else 1
  total <- (j$lambda + s * j$ridge) / j$n
  # glmnet makes the penalty factors add up to the number of columns
  factors <- rep(c(1, 0), c(j$p - j$free, j$free))
  path <- total * mean(factors) * j$ratio^seq(-0.9, 0, 0.1)
  fit <- glmnet(x, if (squared) y else factor(y), if (squared) "gaussian" else "binomial",
                alpha = j$lambda / j$n / total, lambda = path, standardize = FALSE,
                intercept = j$intercept == 1, penalty.factor = factors, thresh = 1e-14, maxit = 3e5,
                lower.limits = if (j$nonnegative) c(rep(0, j$p - j$free), rep(-Inf, j$free)) else -Inf)
  done <- fit$jerr == 0 && length(fit$lambda) == length(path)
  last <- length(fit$lambda)
  writeBin(c(as.numeric(done), fit$a0[[last]], as.numeric(fit$beta[, last])), paste0(j$job, ".w"))
}
