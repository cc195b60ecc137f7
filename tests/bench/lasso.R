# glmnet on a matrix of doubles: lasso.R FOLDER N P LOSS LAMBDA... (as voxsift has them: sums, not means).
# Several lambdas are one path; one is reached by LENGTH (20) warm ones. Prints processor seconds; writes the last weights.
# With RIDGE in the environment an elastic net with that ridge at the last lambda (y has the standard deviation 1); THRESH
# is glmnet's threshold (1e-13).
suppressMessages(library(glmnet))
args <- commandArgs(TRUE)
folder <- args[1]; n <- as.integer(args[2]); p <- as.integer(args[3]); loss <- args[4]
lambda <- as.numeric(args[-(1:4)])
x <- matrix(readBin(file.path(folder, "x.f64"), "double", n * p), n, p)
y <- readBin(file.path(folder, "y.f64"), "double", n)
if (loss == "logistic") y <- factor(y > 0)
family <- if (loss == "logistic") "binomial" else "gaussian"
most <- max(abs(crossprod(x, if (loss == "logistic") (as.numeric(y) - 1.5) else y)))
ridge <- as.numeric(Sys.getenv("RIDGE", "0"))
alpha <- lambda[length(lambda)] / (lambda[length(lambda)] + ridge)
path <- if (length(lambda) > 1) lambda else exp(seq(log(most), log(lambda), length.out = as.integer(Sys.getenv("LENGTH", "20"))))
if (length(args) == 5 && length(path) == 1) path <- lambda # seq gives the first
spent <- system.time(fit <- glmnet(x, y, family, lambda = path / alpha / n, alpha = alpha, 
                                   thresh = as.numeric(Sys.getenv("THRESH", "1e-13")), standardize = FALSE,
                                   intercept = FALSE, maxit = 1e7))
seconds <- spent[["user.self"]] + spent[["sys.self"]]
writeBin(as.vector(fit$beta[, ncol(fit$beta)]), file.path(folder, "w.f64"))
cat(seconds, "\n")
