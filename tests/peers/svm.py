"""voxsift against liblinear, scikit-learn's LinearSVC and gcdnet on the squared hinge with an l1 penalty,
    sum_i max(0, 1 - y_i (x_i.w + b))^2 / 2 + lambda |w|_1:
liblinear's -s 5 with C = 1 / (2 lambda), without intercept or with one of a column of 10,000, which it penalizes as a
ten-thousandth; gcdnet's sqsvm with lambda_gcdnet = 2 lambda / n. Of these, those that are installed. Objectives are
computed anew from everybody's weights: no peer may find a lower one, and what is near has the same support. A peer's
stopping rule is not trusted: what it reaches is printed.
usage: svm.py BUILD_DIR DATA_DIR SCRATCH_DIR"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np

from checks import check, data, failed, run, scratch

TOL, NEAR, SCALE = 1e-9, 1e-6, 1e4
compared = 0


def write_svmlight(path, x, y):
    with open(path, "w") as f:
        for row, label in zip(x, y):
            f.write(f"{int(label):+d}" + "".join(f" {j + 1}:{row[j]:.17g}" for j in np.flatnonzero(row)) + "\n")


def read_svmlight(path):
    """Features as cohorts have them, in single precision."""
    rows = [[entry.split(":") for entry in line.split()[1:]] for line in open(path)]
    x = np.zeros((len(rows), max(int(j) for row in rows for j, _ in row)), np.float32)
    for i, row in enumerate(rows):
        for j, value in row:
            x[i, int(j) - 1] = float(value)
    return x.astype(float)


def random_sparse():
    """A tenth of the entries is not 0; columns of float32, as cohorts have them."""
    rng = np.random.default_rng(8)
    x = (rng.standard_normal((120, 400)) * (rng.random((120, 400)) < 0.1)).astype(np.float32)
    y = np.where(x[:, :8].sum(1) + 0.3 * rng.standard_normal(120) > 0.2, 1, -1)
    write_svmlight("sparse.svm", x, y)
    return "sparse.svm"


class Fit:
    """A model of voxsift, and the objective of anybody's weights."""

    def __init__(self, name, ratio, intercept):
        self.name = f"{name}-{ratio}-{'b' if intercept else '0'}"
        words = [] if intercept else ["--no-intercept"]
        run("fit", name, "--target", "target", "--loss", "squared-hinge", "--standardize", "none", "--class-weights",
            "none", "--tol", str(TOL), "--lambda-ratio", str(ratio), "-o", "model-" + self.name, "-q", *words)
        run("check-model", "model-" + self.name, name)
        about = json.load(open(f"model-{self.name}/model.json"))
        self.out, self.intercept = about["outputs"][0], intercept
        self.x = matrices[name]
        table = [line.rstrip("\n").split("\t") for line in open(name + "/participants.tsv")]
        target = np.array([row[table[0].index("target")] for row in table[1:]])
        self.y = np.where(target == self.out["name"], 1.0, -1.0)
        rows = [line.rstrip("\n").split("\t") for line in open(f"model-{self.name}/weights.tsv")]
        index, weight = rows[0].index("index"), rows[0].index("weight")
        self.w = np.zeros(self.x.shape[1])
        self.w[[int(r[index]) for r in rows[1:]]] = [float(r[weight]) for r in rows[1:]]
        self.value = self.objective(self.w, self.out["unpenalized_weights"][0] if intercept else 0)
        check(self.name + " primal", abs(self.value / self.out["primal"] - 1) < 1e-9, (self.value, self.out["primal"]))

    def objective(self, w, b):
        left = np.maximum(0, 1 - self.y * (self.x @ w + b))
        return (left ** 2).sum() / 2 + self.out["lambda"] * abs(w).sum()

    def best(self, w, b):
        """The objective with the best intercept for these weights, which peers penalize."""
        if not self.intercept:
            return self.objective(w, 0)
        z = self.x @ w
        for _ in range(100):  # on the subjects inside of the margin it is their mean residual
            inside = self.y * (z + b) < 1
            new = (self.y - z)[inside].mean() if inside.any() else b
            if new == b:
                break
            b = new
        return self.objective(w, b)

    def liblinear(self):
        """Its model file: the sign of weights is that of the first label."""
        write_svmlight("train.svm", self.x, self.y)
        words = ["-B", str(SCALE)] if self.intercept else []
        subprocess.run(["liblinear-train", "-s", "5", "-c", repr(0.5 / self.out["lambda"]), "-e", "1e-10", *words,
                        "train.svm", "train.model"], check=True, stdout=subprocess.DEVNULL)
        lines = open("train.model").read().split("\n")
        labels = next(line for line in lines if line.startswith("label")).split()[1:]
        w = np.array([float(v) for v in lines[lines.index("w") + 1:] if v.strip()])
        w = w if float(labels[0]) > 0 else -w
        return (w[:-1], SCALE * w[-1]) if self.intercept else (w, 0)

    def sklearn(self):
        from sklearn.svm import LinearSVC
        model = LinearSVC(penalty="l1", loss="squared_hinge", dual=False, C=0.5 / self.out["lambda"], tol=1e-10,
                          fit_intercept=self.intercept, intercept_scaling=SCALE, max_iter=100000, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(self.x, self.y)
        return model.coef_.ravel(), np.ravel(model.intercept_)[0] if self.intercept else 0

    def gcdnet(self):
        """It has an intercept always."""
        np.savetxt("x.txt", self.x, "%.17g")
        np.savetxt("y.txt", self.y, "%d")
        code = f"""suppressMessages(library(gcdnet))
            x <- as.matrix(read.table("x.txt")); y <- scan("y.txt", quiet = TRUE)
            m <- gcdnet(x, y, method = "sqsvm", lambda = {2 * self.out["lambda"] / len(self.y)!r}, lambda2 = 0,
                        standardize = FALSE, eps = 1e-16, maxit = 1e7)
            write(format(c(m$b0, as.vector(m$beta)), digits = 17), "w.txt", 1)"""
        subprocess.run(["Rscript", "-e", code], check=True, stdout=subprocess.DEVNULL)
        w = np.loadtxt("w.txt")
        return w[1:], w[0]

    def compare(self, peer, answer):
        global compared
        w, b = answer
        value, largest = self.best(w, b), abs(self.w).max()
        rel, own, other = (value - self.value) / self.value, abs(self.w) > 1e-4 * largest, abs(w) > 1e-4 * largest
        print(f"{self.name:26}{peer:10}{self.value:16.10g}{value:16.10g}{rel:9.1e}{own.sum():6d}{other.sum():6d}")
        check(f"{self.name} against {peer}: a lower objective", rel > -NEAR, rel)
        if abs(rel) < 1e-9:
            check(f"{self.name} against {peer}: features", (own != other).sum() == 0, (own != other).sum())
        compared += 1


def installed():
    def module():
        try:
            import sklearn.svm  # noqa: F401
            return True
        except ImportError:
            return False

    def package():
        return bool(shutil.which("Rscript")) and subprocess.run(
            ["Rscript", "-e", "library(gcdnet)"], capture_output=True).returncode == 0
    found = {"liblinear": bool(shutil.which("liblinear-train")), "sklearn": module(), "gcdnet": package()}
    return [name for name, there in found.items() if there]


os.makedirs(scratch, exist_ok=True)
folder = tempfile.mkdtemp(prefix="svm-", dir=scratch)
os.chdir(folder)
peers = installed()
print("installed:", ", ".join(peers) or "none of liblinear, scikit-learn, gcdnet")
sources, matrices = {"sparse": random_sparse()}, {}
for matrix in ["colon", "leukemia_train"]:
    if os.path.exists(os.path.join(data, "matrices", matrix + ".svm")):
        sources[matrix] = os.path.join(data, "matrices", matrix + ".svm")
print(f"{'problem':26}{'peer':10}{'voxsift':>16}{'peer':>16}{'peer+':>9}{'count':>6}{'peer':>6}")
for cohort, source in sources.items():
    run("cohort", "--svmlight", source, "-o", cohort, "-q")
    matrices[cohort] = read_svmlight(source)
    for share in [0.5, 0.1, 0.02]:
        for with_intercept in [False, True]:
            fit = Fit(cohort, share, with_intercept)
            for program in peers:
                if program != "gcdnet" or with_intercept:
                    fit.compare(program, getattr(fit, program)())
os.chdir(scratch)
shutil.rmtree(folder)
print(f"{compared} comparisons, {len(failed)} failures")
sys.exit(len(failed) > 0)
