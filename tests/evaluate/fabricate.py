"""Directories of `voxsift cv` with predictions that were drawn instead of computed, for `voxsift compare`: cv.json of a
real run of the same kind of target, with other subjects, folds and values."""
import copy
import json
import os

import numpy as np

from oracle import write


def above(x, y):
    return (x > y) + 0.5 * (x == y)


def auc(truth, fold, s):
    right = pairs = 0
    for f in set(fold):
        pos, neg = s[(fold == f) & (truth == 1)], s[(fold == f) & (truth == 0)]
        right += above(pos[:, None], neg[None]).sum()
        pairs += len(pos) * len(neg)
    return right / pairs


def within(truth, fold, s, of):
    """A mean over folds that weighs subjects of class 1."""
    total = sum(of(truth[fold == f] == 1, s[fold == f]) * (truth[fold == f] == 1).sum() for f in set(fold))
    return total / (truth == 1).sum()


def of_classes(truth, fold, s, odds):
    """All that cv.json says of one repeat of two classes; the predicted one is that of the score's sign."""
    said, tp, p = s > 0, truth == 1, 1 / (1 + np.exp(-odds))
    sides = []
    for c in (1, 0):
        found = weight = 0
        for f in set(fold):
            at = fold == f
            are = (at & (truth == c)).sum()
            found += (at & (truth == c) & (said == c)).sum() * (at.sum() - are)
            weight += are * (at.sum() - are)
        sides.append(found / weight)
    A, b = np.column_stack([np.ones(len(p)), odds]), np.zeros(2)
    for _ in range(50):
        q = 1 / (1 + np.exp(-A @ b))
        b = b + np.linalg.solve((A.T * (q * (1 - q))) @ A, A.T @ (truth - q))
    return {"auc": auc(truth, fold, s), "sensitivity": sides[0], "specificity": sides[1], "balanced_accuracy": sum(sides) / 2, "accuracy": (said == tp).mean(),
            "ppv": tp[said].mean(), "npv": (~tp)[~said].mean(), "f1": 2 * (said & tp).sum() / (said.sum() + tp.sum()),
            "f2": 5 * (said & tp).sum() / (said.sum() + 4 * tp.sum()), "mcc": np.corrcoef(said, tp)[0, 1],
            "average_precision": within(truth, fold, s, lambda y, z: np.mean([y[z >= v].mean() for v in z[y]])),
            "breakeven": within(truth, fold, s, lambda y, z: y[np.argsort(-z)[:y.sum()]].mean()), "brier": ((p - truth) ** 2).mean(), "calibration_slope": b[1]}


def of_scores(truth, fold, s, odds):
    t, p = truth.copy(), s.copy()
    for f in set(fold):
        t[fold == f] -= t[fold == f].mean()
        p[fold == f] -= p[fold == f].mean()
    error = s - truth
    return {"r": t @ p / np.sqrt((t @ t) * (p @ p)), "r2": 1 - error @ error / ((truth - truth.mean()) ** 2).sum(),
            "mae": abs(error).mean(), "rmse": np.sqrt((error ** 2).mean())}


def fabricate(out, template, truth, folds, scores, odds=None):
    """Folds, scores and log odds (those of probabilities; without, the scores) are repeats x n; the classes of a template are no and yes, 0 and 1 in `truth`."""
    (R, n), classes, odds = scores.shape, "classes" in template, scores if odds is None else odds
    about, ids = copy.deepcopy(template), [f"s{i:04}" for i in range(n)]
    each = [(of_classes if classes else of_scores)(truth, folds[r], scores[r], odds[r]) for r in range(R)]
    for m in each[0]:
        about["outer"][m]["pooled"] = float(np.mean([e[m] for e in each]))
    about["subjects"], about["repeats"] = n, R
    about["each_fold"] = [{"training": int((f != k).sum()), "test": int((f == k).sum())} for f in folds for k in sorted(set(f))]
    column = lambda of: [of(r, i) for r in range(R) for i in range(n)]
    common = {"participant_id": ids * R, "repeat": column(lambda r, i: r + 1), "fold": column(lambda r, i: folds[r][i])}
    number = lambda values: column(lambda r, i: repr(float(values[r, i])))
    if classes:
        p, name = 1 / (1 + np.exp(-odds)), ("no", "yes")
        rest = {"truth": column(lambda r, i: name[int(truth[i])]), "predicted": column(lambda r, i: name[int(scores[r, i] > 0)]),
                "score_yes": number(scores), "p_no": number(1 - p), "p_yes": number(p)}
    else:
        rest = {"truth": column(lambda r, i: repr(float(truth[i]))), "predicted": number(scores)}
    os.makedirs(out, exist_ok=True)
    json.dump(about, open(f"{out}/cv.json", "w"))
    write(f"{out}/predictions.tsv", {**common, **rest})
    write(f"{out}/folds.tsv", {**common, "group": column(lambda r, i: i + 1)})
