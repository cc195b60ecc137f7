"""voxsift against scikit-learn and glmnet on the same problems. The objective
    sum_i f(x_i.w + c_i.b, y_i) + lambda |w|_1 + ridge / 2 |w|^2
is computed anew from everybody's weights: no peer may find a lower one, and who converged must be
near. usage: peers.py BUILD_DIR DATA_DIR SCRATCH_DIR"""
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

from checks import check, data, failed, run, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
TOL = 1e-9     # what voxsift is asked for: its gap, as a share of the loss of the empty model
NEAR = 1e-5    # relative difference from a peer that converged
TIGHT = 1e-10  # relative difference from which on the weights are compared as well
RATIOS = [0.5, 0.1, 0.02]
cohorts = {}


class Cohort:
    """A cohort's features as doubles, subjects x features, and the columns of its table."""

    def __init__(self, name, *source):
        self.name = name
        if run("cohort", *source, "-o", name, "-q"):
            self.x = np.load(name + "/features.npy").astype(float).T
            rows = [line.rstrip("\n").split("\t") for line in open(name + "/participants.tsv")]
            self.table = {c[0]: np.array(c[1:]) for c in zip(*rows)}
            cohorts[name] = self

    def view(self, way):
        """Columns as the solver sees them, and what they were divided by."""
        mean = self.x.mean(0) if way != "none" else 0
        sd = self.x.std(0) if way == "unit" else np.ones(self.x.shape[1])
        sd = np.where(sd > 0, sd, np.inf)
        return (self.x - mean) / sd, np.where(np.isfinite(sd), sd, 0)


class Case:
    """One problem, and what voxsift makes of it."""

    def __init__(self, cohort, target, loss, ratio, intercept=True, way=None, ridge=0, nonnegative=False,
                 confounds=None):
        self.way = way or ("unit" if intercept else "none")
        self.cohort, self.loss, self.ratio, self.intercept = cohorts[cohort], loss, ratio, intercept
        self.ridge, self.nonnegative, self.confounds = ridge, nonnegative, bool(confounds)
        self.name = "-".join([cohort, target, loss, self.way, "b" if intercept else "0", str(ratio)]
                             + ["ridge"] * (ridge > 0) + ["nonneg"] * nonnegative + ["confounds"] * self.confounds)
        words = [cohort, "--target", target, "--loss", loss, "--standardize", self.way, "--tol", str(TOL),
                 "--lambda-ratio", str(ratio), "--ridge", str(ridge), "-o", "model-" + self.name, "-q"]
        words += ["--no-intercept"] * (not intercept) + ["--nonnegative"] * nonnegative
        words += ["--confounds", confounds] if confounds else []
        words += ["--class-weights", "none"] if loss == "logistic" else []
        self.fitted = run("fit", *words)
        if self.fitted:
            run("check-model", "model-" + self.name, cohort)
            self.read(target)

    def free_column(self, name):
        """A column without penalty, by the name that voxsift gives it."""
        column, _, level = name.partition("=")
        if name == "intercept":
            return np.ones(len(self.y))
        values = self.cohort.table[column]
        return (values == level) * 1.0 if level else values.astype(float)

    def read(self, target):
        """The model, and its objective computed anew from the features as they are."""
        folder = "model-" + self.name
        about = json.load(open(folder + "/model.json"))
        self.out = about["outputs"][0]
        column = self.cohort.table[target]
        self.y = column.astype(float) if self.loss == "squared" else np.where(column == self.out["name"], 1.0, -1.0)
        self.free = np.array([self.free_column(c) for c in about["unpenalized"]]).reshape(-1, len(self.y)).T
        self.z, self.sd = self.cohort.view(self.way)
        rows = [line.rstrip("\n").split("\t") for line in open(folder + "/weights.tsv")]
        index, weight = rows[0].index("index"), rows[0].index("weight")
        raw = np.zeros(self.z.shape[1])
        raw[[int(r[index]) for r in rows[1:]]] = [float(r[weight]) for r in rows[1:]]
        self.w = raw * self.sd
        score = self.cohort.x @ raw + self.free @ np.array(self.out["unpenalized_weights"])
        self.value = self.objective(score, self.w)
        logistic = self.loss == "logistic"
        self.empty = len(self.y) * np.log(2) if logistic else (self.off_free(self.y) ** 2).sum() / 2
        check(self.name + " converged", self.out["converged"] and self.out["gap"] <= TOL, self.out["gap"])
        check(self.name + " weights", len(rows) - 1 == self.out["nonzero"] == (raw != 0).sum())
        check(self.name + " sign", not self.nonnegative or (raw >= 0).all())
        check(self.name + " primal", abs(self.value / self.out["primal"] - 1) < 1e-9,
              f"{self.value!r}, the model says {self.out['primal']!r}")

    def off_free(self, v):
        """What is left of v without the columns that are not penalized."""
        q = np.linalg.qr(self.free)[0]
        return v - q @ (q.T @ v)

    def objective(self, score, w):
        """Sums, not means."""
        loss = (self.y - score) ** 2 / 2 if self.loss == "squared" else np.logaddexp(0, -self.y * score)
        return loss.sum() + self.out["lambda"] * abs(w).sum() + self.ridge / 2 * (w * w).sum()

    def sklearn(self):
        """Weights of scikit-learn and its score, or None where it has nothing for the problem."""
        n, lam = len(self.y), self.out["lambda"]
        z, y, intercept = self.z, self.y, self.intercept
        if self.loss == "squared":
            if self.confounds:
                z, y, intercept = self.off_free(z), self.off_free(y), False
            usual = dict(fit_intercept=intercept, positive=self.nonnegative, tol=1e-10, max_iter=30000)
            share = lam / (lam + self.ridge)
            model = ElasticNet(alpha=(lam + self.ridge) / n, l1_ratio=share, **usual) if self.ridge else \
                Lasso(alpha=lam / n, **usual)
        elif self.confounds or self.nonnegative or self.ridge:
            return None
        else:  # liblinear penalizes the intercept as well, but as a thousandth of a feature
            model = LogisticRegression(penalty="l1", C=1 / lam, solver="liblinear", fit_intercept=intercept,
                                       intercept_scaling=1000, tol=1e-9, max_iter=500, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(np.asfortranarray(z), y)
        w = model.coef_.ravel()
        score = self.z @ w + np.ravel(model.intercept_)[0]
        if self.confounds:
            score += self.free @ np.linalg.lstsq(self.free, self.y - score, rcond=None)[0]
        return not any(c.category is ConvergenceWarning for c in caught), w, score

    def job(self, number):
        """A row for glmnet.R, with the files it needs."""
        x, free = f"{self.cohort.name}-{self.way}{number if self.confounds else ''}.x", 0
        columns = self.z.T
        if self.confounds:
            free = self.free.shape[1] - self.intercept
            columns = np.vstack([columns, self.free[:, self.intercept:].T])
        if not os.path.exists(x):
            columns.tofile(x)
        self.y.tofile(f"{number}.y")
        return [number, x, *columns.shape[::-1], self.loss, int(self.intercept), self.out["lambda"], self.ridge,
                self.ratio, free, int(self.nonnegative)]

    def glmnet(self, number):
        """Weights of glmnet and its score."""
        done, intercept, *w = np.fromfile(f"{number}.w")
        w, free = np.array(w[:self.z.shape[1]]), np.array(w[self.z.shape[1]:])
        return done > 0, w, self.z @ w + intercept + (self.free[:, self.intercept:] @ free if self.confounds else 0)

    def compare(self, peer, answer):
        """No peer may be lower; who converged must be near; who is very near must have the same weights."""
        converged, w, score = answer
        value = self.objective(score, w)
        rel = (value - self.value) / self.value
        largest = abs(self.w).max()
        apart = abs(self.w - w).max() / largest if largest > 0 else abs(w).max()
        print(f"{self.name:48}{peer:8}{self.value:16.10g}{value:16.10g}{rel:9.1e}{self.out['gap']:9.1e}{apart:9.1e}"
              f"{self.out['nonzero']:6d}{(w != 0).sum():6d}{'' if converged else '  peer stopped early'}", flush=True)
        what = f"{self.name} against {peer}"
        lower = self.value - value * (1 + 1e-9) - TOL * self.empty
        check(what + ": a lower objective", lower <= 0, repr((self.value, value)))
        check(what + ": far apart", not converged or rel <= NEAR, rel)
        if abs(rel) < TIGHT:
            others = ((w != 0) != (self.w != 0)).sum()
            check(what + ": weights", apart < 1e-3, apart)
            check(what + ": features", others <= 1 + self.out["nonzero"] / 20, others)
        return converged


def cases():
    """Every loss with and without intercept and for three lambdas, then the rest."""
    every = [("riboflavin", "target", "squared"), ("leukemia_train", "target", "logistic"),
             ("leukemia_test", "target", "logistic"), ("colon", "target", "logistic"),
             ("arc", "age_at_stroke", "squared"), ("arc", "sex", "logistic")]
    every = [c for c in every if c[0] in cohorts]
    made = [Case(*c, ratio, intercept) for c, intercept, ratio in itertools.product(every, [True, False], RATIOS)]
    if "riboflavin" in cohorts:
        made += [Case("riboflavin", "target", "squared", 0.1, ridge=5),
                 Case("riboflavin", "target", "squared", 0.1, nonnegative=True),
                 Case("colon", "target", "logistic", 0.1, ridge=0.5)]
    age, sex = ("arc", "age_at_stroke", "squared"), ("arc", "sex", "logistic")
    return made + [Case(*age, 0.1, ridge=30), Case(*age, 0.1, nonnegative=True), Case(*age, 0.1, way="none"),
                   Case(*sex, 0.1, ridge=0.5), Case(*sex, 0.1, nonnegative=True), Case(*sex, 0.1, way="center"),
                   Case(*age, 0.1, confounds="sex,wab_days"), Case(*sex, 0.1, confounds="age_at_stroke,wab_days")]


os.makedirs(scratch, exist_ok=True)
folder = tempfile.mkdtemp(prefix="run-", dir=scratch)
os.chdir(folder)
Cohort("arc", os.path.join(EXAMPLES, "arc", "participants.tsv"), "--image-column", "t1w")
if os.path.isdir(os.path.join(data, "matrices")):
    for matrix in ["riboflavin", "leukemia_train", "leukemia_test", "colon"]:
        Cohort(matrix, "--svmlight", os.path.join(data, "matrices", matrix + ".svm"))
else:
    print(f"'{data}' has no matrices: only the voxels of examples/arc are compared")
fitted = [c for c in cases() if c.fitted] if "arc" in cohorts else []
with open("jobs.tsv", "w") as f:
    f.write("job\tx\tn\tp\tloss\tintercept\tlambda\tridge\tratio\tfree\tnonnegative\n" + "".join(
        "\t".join(map(str, c.job(k))) + "\n" for k, c in enumerate(fitted)))
r = subprocess.run(["Rscript", os.path.join(HERE, "glmnet.R"), folder], capture_output=True, text=True)
check("glmnet.R", r.returncode == 0, r.stderr)
print(f"{'problem':48}{'peer':8}{'voxsift':>16}{'peer':>16}{'peer+':>9}{'gap':>9}{'weights':>9}{'count':>6}{'peer':>6}")
for k, case in enumerate(fitted):
    answers = {"sklearn": case.sklearn(), "glmnet": case.glmnet(k) if os.path.exists(f"{k}.w") else None}
    near = [case.compare(peer, answer) for peer, answer in answers.items() if answer]
    check(case.name + ": no peer converged", any(near))
os.chdir(scratch)
shutil.rmtree(folder)
print(f"{len(fitted)} problems, {len(failed)} failures")
sys.exit(len(failed) > 0 or not fitted)
