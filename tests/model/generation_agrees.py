"""Feature generation against numpy: columns of units from their definitions, values, bounds, weights that are learned
anew, predictions; the lasso and expanded tables as the same problem in other words. Runs in an empty directory."""
import itertools
import json
import os

import numpy as np
from oracle import check, finish, near, run, table, write

rng = np.random.default_rng(83)
N, NEW, P = 60, 25, 14
every = N + NEW
ids = np.array([f"s{k:02}" for k in range(every)])
X = rng.normal(size=(every, P)).astype("f4")
for j in range(1, P):
    X[:, j] = 0.5 * X[:, j - 1] + 0.8 * X[:, j]
X[:, 9] = 3  # constant
X[:N, 12] = np.round(X[:N, 12])  # values that many share
X *= rng.uniform(0.5, 20, P).astype("f4")
X += rng.normal(size=P).astype("f4")
age, male = rng.uniform(20, 60, every), rng.random(every) < 0.5
z = X / X.std(0).clip(0.1)
truth = z[:, 2] - z[:, 2].mean() + 0.8 * (z[:, 4] - z[:, 4].mean()) * (z[:, 7] - z[:, 7].mean()) + 0.03 * (age - 40) + 0.6 * rng.normal(size=every)
X[:, 5] += (age / 10).astype("f4")
people = {"participant_id": ids, "dx": np.where(truth > 0, "yes", "no"), "kind": np.array(list("abc"))[np.digitize(truth, [-0.7, 0.7])],
          "late": np.array(list("bac"))[np.digitize(truth, [-0.7, 0.7])],
          "age": age, "sex": np.where(male, "M", "F"), "much": rng.choice([0.5, 1, 2], every)}
names = [f"f{j}" for j in range(P)]
penalties = rng.choice([0.5, 1, 2], P)
GROUPS = {"ab": [1, 0, 2], "cd": [2, 3, 4], "alone": [7], "rest": [12, 13, 9, 5]}  # overlap; features in no group
PATHS = ["b/l/f", "b/l/f", "b/l/o", "b/r", "b/r", "b/r/x", "b/r/x", "c/l", "c/l", "c/m", "c/m", "c/m/n", "c", "d"]


def cohort(name, rows):
    write("x.tsv", {"participant_id": ids[rows], **{k: X[rows, j] for j, k in enumerate(names)}})
    write("people.tsv", {k: v[rows] for k, v in people.items()})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name)


cohort("new", slice(N, every))
cohort("c", slice(N))
write("groups.tsv", {"feature": [names[j] for g in GROUPS.values() for j in g], "group": [k for k, g in GROUPS.items() for _ in g]})
write("tree.tsv", {"feature": names, "path": PATHS})
write("penalties.tsv", {"feature": names, "penalty": penalties})

# ---- Units from their definitions ------------------------------------------------------------------------------


def standardized(way, confounds_out, divided, u):
    """Of everybody, by what the training subjects say, each as often as it weighs."""
    S, mean = X.astype(float), np.average(X[:N].astype(float), axis=0, weights=u)
    spread = np.sqrt(np.average((X[:N] - mean) ** 2, axis=0, weights=u))
    if way != "none":
        S = S - mean
    if way == "unit":
        S = np.where(spread > 1e-6, S / np.where(spread > 1e-6, spread, 1), 0)
    if confounds_out is not None:
        S = S - confounds_out @ np.linalg.lstsq(np.sqrt(u)[:, None] * confounds_out[:N], np.sqrt(u)[:, None] * S[:N], rcond=None)[0]
    return S / penalties if divided else S


def waves(x, width):
    """exp(-d^2 / (2 width^2)) as its Fourier series with period 2 pi / 0.62 widths, five harmonics."""
    t, at = 0.62, x / width
    k = t / np.sqrt(2 * np.pi) * np.exp(-(np.arange(6) * t) ** 2 / 2)
    columns = [np.full(len(x), np.sqrt(k[0]))]
    for m in range(1, 6):
        columns += [np.sqrt(2 * k[m]) * np.cos(m * t * at), np.sqrt(2 * k[m]) * np.sin(m * t * at)]
    return np.stack(columns, 1)


def steps(x):
    low, high = x[:N].min(), x[:N].max()
    if high <= low:
        return np.zeros((len(x), 100))
    at = low + np.arange(1, 101) / 100 * (high - low)
    return 0.1 * (x[:, None] >= at - 1e-12 * (high - low))


def tree_groups():
    """Beginnings of paths and their features, in the order of the paths."""
    found = {}
    for j in sorted(range(P), key=lambda j: (PATHS[j].split("/"), j)):
        parts = PATHS[j].split("/")
        for k in range(len(parts)):
            found.setdefault("/".join(parts[:k + 1]), []).append(j)
    return found


def units_of(p, S, model):
    """Columns of all units, by number; of trees by name."""
    if p["feature-map"] == "poly2":
        g, r = p["gamma"], p["coef0"]
        return [np.sqrt(2 * g * r) * S[:, [j]] for j in range(P)] + [g * S[:, [j]] ** 2 for j in range(P)] + \
            [np.sqrt(2) * g * S[:, [a]] * S[:, [b]] for a, b in itertools.combinations(range(P), 2)]
    if p["feature-map"] == "gauss":
        return [waves(S[:, j], float(p["bandwidth"] or 1)) for j in range(P)]
    if p["feature-map"] == "hik":
        return [steps(S[:, j]) for j in range(P)]
    if not p["groups"]:
        return [S[:, [j]] for j in range(P)]
    groups = tree_groups().values() if "tree" in p["groups"] else [sorted(g) for g in GROUPS.values()]
    return [S[:, g] / (np.sqrt(len(g)) if p["by-size"] else 1) for g in groups]


g = waves(np.linspace(-3, 3, 61) * 0.7, 0.7)
d = np.linspace(-3, 3, 61)[:, None] - np.linspace(-3, 3, 61)
check("waves are near the Gaussian kernel", abs(g @ g.T - np.exp(-d**2 / 2)).max() < 6.5e-4, abs(g @ g.T - np.exp(-d**2 / 2)).max())

# ---- Losses, penalties, bounds ------------------------------------------------------------------------------------


def loss(logistic, m):
    return np.logaddexp(0, -m) if logistic else np.maximum(0, 1 - m) ** 2 / 2


def descent(logistic, m):
    """-f' by the margin."""
    return np.exp(-np.logaddexp(0, m)) if logistic else np.maximum(0, 1 - m)


def conjugate(logistic, a, most):
    """-G(alpha)."""
    if not logistic:
        return (a - a**2 / (2 * most)).sum()
    t = np.clip(a / most, 1e-300, 1)
    return -(most * (t * np.log(t) + (1 - t) * np.log1p(-np.minimum(t, 1 - 1e-16)))).sum()


def spread(size, B):
    """The least sum size^2 / d, 0 <= d <= 1, sum d <= B: d = min(1, size / t)."""
    size = size[size > 0]
    if len(size) <= B:
        return (size**2).sum()
    low, high = 0, size.sum() / B + size.max()
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if np.minimum(1, size / t).sum() > B else (low, t)
    return (size**2 / np.minimum(1, size / high)).sum()


def best_of(f):
    """The largest value of a concave f on [0, 1]."""
    t = np.linspace(0, 1, 2001)
    k = int(np.argmax([f(v) for v in t]))
    low, high = t[max(0, k - 1)], t[min(2000, k + 1)]
    for _ in range(100):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if f(a) < f(b) else (low, b)
    return max(f((low + high) / 2), f(1))


def empty_value(logistic, y, u, C):
    """The least value without features."""
    b = np.zeros(C.shape[1])
    value = lambda b: (u * loss(logistic, y * (C @ b))).sum()
    for _ in range(100 if len(b) else 0):
        m = y * (C @ b)
        s = descent(logistic, m)
        curve = u * (s * (1 - s) if logistic else m < 1)
        step = np.linalg.lstsq((C.T * curve) @ C, C.T @ (u * y * s), rcond=None)[0]
        size = 1.0
        while value(b + size * step) > value(b) and size > 1e-12:
            size /= 2
        b = b + size * step
    return value(b)


def number(text):
    return np.array(text, float)


def rows_of(lines, output):
    keep = [k for k, v in enumerate(lines["output"]) if int(v) == output + 1]
    return {name: [column[k] for k in keep] for name, column in lines.items()}


def confirm(what, model, found, o):
    """One output of a model from its files and the table."""
    said, p, task = model["outputs"][o], model["parameters"], model["task"]
    logistic, mslr = said["loss"] == "logistic", model["method"] == "mslr"
    B, cost = p["per-iteration"], p["C"]
    target = people[task["target"]]
    y = np.where(target == said["name"], 1.0, -1.0)
    u = counts = people["much"][:N] if task["subject-weights"] else np.ones(N)
    if task["class-weights"] == "balanced":
        u = u * np.where(y[:N] > 0, u.sum() / (2 * u[y[:N] > 0].sum()), u.sum() / (2 * u[y[:N] < 0].sum()))
    ones = np.ones((every, 0 if task["no-intercept"] else 1))
    C = np.column_stack([ones, *({"age": age, "sex": male.astype(float)}[k] for k in (task["confounds"] or "").split(",") if k)])
    out = task["confounds-as"] == "regress"
    S = standardized(task["standardize"], C if out else None, task["penalty-factors"], counts)
    units, rows = units_of(p, S, model), rows_of(table(open(f"{found}/selection.tsv")), o)
    free = C[:, :1] if out else C
    chosen, w = {}, number(rows["weight"])
    for k, unit in enumerate(rows["block"]):
        chosen.setdefault(int(unit), []).append(k)
    check(what + ": units in order, whole", list(chosen) == sorted(chosen) and
          all(len(k) == units[g].shape[1] and [int(rows["column"][c]) for c in k] == list(range(len(k))) for g, k in chosen.items()))
    check(what + ": selected", said["selected"] == len(chosen) > 0 and said["converged"])
    Z = np.hstack([units[g] for g in chosen])

    # value and bound
    fit = Z @ w + free @ number(said["selection_unpenalized"])[:free.shape[1]]
    if mslr:
        fit = Z @ w
    size = np.array([np.sqrt((w[k] ** 2).sum()) for k in chosen.values()])
    value = spread(size, B) / 2 + cost * (u * loss(logistic, (y * fit)[:N])).sum()
    check(what + ": value", near(said["primal"], value, 1e-8), (said["primal"], value))
    a = np.load(found + "/alpha.npy")[o] if mslr else cost * u * descent(logistic, (y * fit)[:N])
    scores = np.sort([((Z.T[:, :N] @ (a * y[:N])) ** 2).sum() for Z in units])[::-1][:B].sum()
    dual = best_of(lambda t: conjugate(logistic, t * a, cost * u) - t * t * scores / 2)
    check(what + ": bound", near(said["dual"], dual, 1e-6 + 1e-7 * said["primal"] / abs(dual)) and dual <= value * (1 + 1e-9), (said["dual"], dual))
    if not mslr:
        check(what + ": alpha is in the dual", abs(free[:N].T @ (a * y[:N])).max() <= 1e-6 * np.abs(a).sum() * (abs(free).max() + 1) if free.size else True)
    empty = cost * empty_value(logistic, y[:N], u, free[:N, :0] if mslr else free[:N])
    check(what + ": gap", near(said["gap"], (said["primal"] - said["dual"]) / empty, 1e-6), (said["gap"], empty))
    again = json.loads(run("check-model", found, "c", "--json")[0])
    check(what + ": the checker's", again["holds"] and near(again["outputs"][o]["primal"], value, 1e-8), (again["outputs"][o], value))

    # weights that predict
    retrained = "refit" in rows
    check(what + ": refit where --refit is given", retrained == (p["refit"] > 0))
    if retrained:
        w = number(rows["refit"])
    mapped = p["feature-map"] != "none"
    b = number(said["unpenalized_weights"])
    if mapped:
        score = Z @ w + C @ b
    else:
        beta, t = np.zeros(P), table(open(found + "/weights.tsv"))
        column = "weight_" + said["name"] if len(model["outputs"]) > 1 else "weight"
        beta[[int(k) for k in t["index"]]] = number(t[column])
        score = X @ beta + C @ b
        rest = score - Z @ w
        rest -= C @ np.linalg.lstsq(C[:N], rest[:N], rcond=None)[0] if C.size else 0
        check(what + ": weights of features", abs(rest).max() <= 1e-6 * abs(Z @ w).max(), abs(rest).max())
    if retrained:
        pull = u * y[:N] * descent(logistic, (y * score)[:N])
        left = w - p["refit"] * Z[:N].T @ pull
        full = p["refit"] * empty_value(logistic, y[:N], u, free[:N])
        check(what + ": learned to the end", left @ left / 2 <= 1e-8 * full and abs(free[:N].T @ pull).max() <= 1e-6 * (abs(free).max() + 1) * N,
              (left @ left / 2, full))
    return said, score, chosen, rows, w


def predicted(what, model, found, outputs):
    """Scores of training and new subjects, as predict has them."""
    two = len(outputs) == 1
    for cohort_name, part in (("c", slice(N)), ("new", slice(N, every))):
        t = table(run("predict", found, cohort_name, "-q")[0].splitlines())
        p = np.stack([1 / (1 + np.exp(-s["calibration_offset"] - s["calibration_slope"] * score[part])) for s, score in outputs])
        if two:
            check(f"{what}: predicted, {cohort_name}", near(number(t["p_" + outputs[0][0]["name"]]), p[0], 1e-6),
                  abs(number(t["p_" + outputs[0][0]["name"]]) - p[0]).max())
        else:
            said = np.stack([number(t["p_" + s["name"]]) for s, _ in outputs])
            check(f"{what}: predicted, {cohort_name}", near(said, p / p.sum(0), 1e-6), abs(said - p / p.sum(0)).max())


def files(what, model, found, parts):
    p = model["parameters"]
    check(what + ": files", os.path.exists(found + "/pairs.tsv") == (p["feature-map"] == "poly2") and os.path.exists(found + "/selected.tsv") == bool(p["groups"]) and
          os.path.exists(found + "/mapped.tsv") == (p["feature-map"] != "none") and os.path.exists(found + "/alpha.npy") == (model["method"] == "mslr"))
    if p["feature-map"] == "poly2":
        t, pairs = table(open(found + "/pairs.tsv")), list(itertools.combinations(range(P), 2))
        kinds, weights = [], []
        for said, score, chosen, rows, w in parts:
            for unit, k in chosen.items():
                a, b = (unit % P,) * 2 if unit < 2 * P else pairs[unit - 2 * P]
                kinds.append((["itself", "square", "pair"][min(2, unit // P)], names[a], names[b]))
                weights.append(w[k[0]])
        check(what + ": pairs", list(zip(t["kind"], t["first"], t["second"])) == kinds and near(number(t["weight"]), weights), t)
    if p["groups"]:
        t, groups = table(open(found + "/selected.tsv")), tree_groups() if "tree" in p["groups"] else GROUPS
        order = list(groups)
        # of standardized features, not of their columns, which --by-size divides
        square = lambda w, k: (w[k] ** 2).sum() / (len(k) if p["by-size"] else 1)
        wanted = [(order[unit], len(k), np.sqrt(square(w, k)), square(w, k) / sum(square(w, v) for v in chosen.values()))
                  for said, score, chosen, rows, w in parts for unit, k in chosen.items()]
        check(what + ": groups", t["group"] == [v[0] for v in wanted] and [int(v) for v in t["features"]] == [v[1] for v in wanted] and
              near(number(t["weight"]), [v[2] for v in wanted]) and near(number(t["share"]), [v[3] for v in wanted]), (t, wanted))


PROBLEMS = [
    "--method fgm --loss squared-hinge --per-iteration 3 --iterations 3",
    "--method fgm --loss logistic --confounds age,sex --per-iteration 2 --C 1",
    "--method fgm --groups file:groups.tsv --by-size --refit 2 --per-iteration 1 --iterations 2",
    "--method fgm --groups file:groups.tsv --per-iteration 9 --confounds age --loss logistic",
    "--method fgm --groups tree:tree.tsv --per-iteration 2 --iterations 3 --C 0.5",
    "--method fgm --feature-map poly2 --confounds age --nselect 6 --gamma 0.5 --coef0 0.3",
    "--method fgm --feature-map poly2 --confounds age,sex --confounds-as regress --refit 3 --nselect 5",
    "--method fgm --feature-map gauss --bandwidth 0.7 --confounds sex --per-iteration 2 --iterations 2",
    "--method fgm --feature-map hik --refit 1 --per-iteration 2 --iterations 2",
    "--method mslr --per-iteration 3 --iterations 2",
    "--method mslr --per-iteration 3 --iterations 2 --solver coordinate-descent",
    "--method mslr --feature-map poly2 --confounds age --nselect 4 --C 1",
    "--method mslr --groups tree:tree.tsv --by-size --per-iteration 2 --iterations 2 --confounds age --confounds-as regress",
    "--method mslr --refit 0 --per-iteration 2 --iterations 2 --C 1",
    "--method mslr --feature-map hik --per-iteration 1 --iterations 2",
    "--method fgm --target kind --class-weights balanced --per-iteration 2 --iterations 2 --refit 4",
    "--method fgm --target kind --feature-map poly2 --nselect 3 --subject-weights much",
    "--method fgm --penalty-factors penalties.tsv --subject-weights much --per-iteration 2 --iterations 3 --standardize center --C 0.01",
    "--method fgm --feature-map poly2 --penalty-factors penalties.tsv --nselect 3",
    "--method fgm --standardize none --no-intercept --loss logistic --per-iteration 2 --iterations 2 --C 0.001",
    "--method fgm --per-iteration 500 --iterations 2",
]
for k, words in enumerate(PROBLEMS):
    words = words.split()
    target = [] if "--target" in words else ["--target", "dx"]
    run("fit", "c", *target, *words, "-o", f"m{k}", "-q")
    model = json.load(open(f"m{k}/model.json"))
    what = " ".join(words)
    parts = [confirm(f"{what} [{o}]", model, f"m{k}", o) for o in range(len(model["outputs"]))]
    predicted(what, model, f"m{k}", [(q[0], q[1]) for q in parts])
    files(what, model, f"m{k}", parts)

# ---- With B = 1 it is the lasso ------------------------------------------------------------------------------------
exact = ["--iterations", "5000", "--tol", "1e-9", "--subproblem-tol", "1e-10", "-q"]
run("fit", "c", "--target", "dx", "--method", "fgm", "--loss", "logistic", "--per-iteration", "1", "--C", "0.2", *exact, "-o", "one")
w = number(table(open("one/selection.tsv"))["weight"])
run("fit", "c", "--target", "dx", "--lambda", repr(abs(w).sum() / 0.2), "--tol", "1e-10", "-q", "-o", "lasso")
a, b = ({int(i): float(v) for i, v in zip(*(table(open(m + "/weights.tsv"))[k] for k in ("index", "weight")))} for m in ("one", "lasso"))
check("B = 1 is the lasso", abs(w).sum() > 0 and near([a.get(j, 0) for j in range(P)], [b.get(j, 0) for j in range(P)], 1e-3), (a, b))
check("and its value", near(json.load(open("one/model.json"))["outputs"][0]["primal"],
                            0.2 * (json.load(open("lasso/model.json"))["outputs"][0]["primal"] - abs(w).sum() ** 2 / 0.2) + abs(w).sum() ** 2 / 2, 1e-7))

# ---- poly2 is the same as a table of what it makes ------------------------------------------------------------------
S = standardized("unit", None, False, np.ones(N))
wide = np.hstack(units_of({"feature-map": "poly2", "gamma": 1, "coef0": 1}, S, None))
keep = wide[:N].std(0) > 0
for name, part in (("wide", slice(N)), ("wide_new", slice(N, every))):
    write("x.tsv", {"participant_id": ids[part], **{f"u{j}": wide[part, j] for j in range(wide.shape[1])}})
    write("people.tsv", {k: v[part] for k, v in people.items()})
    run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "-q", "-o", name)


def scores_of(found, cohort_name):
    """What predict says before folds calibrate it, which standardize pairs anew."""
    said = json.load(open(found + "/model.json"))["outputs"][0]
    p = number(table(run("predict", found, cohort_name, "-q")[0].splitlines())["p_yes"])
    return (np.log(p) - np.log1p(-p) - said["calibration_offset"]) / said["calibration_slope"]


for words in ("fgm --nselect 9 --per-iteration 3 --subproblem-tol 1e-8", "mslr --nselect 4 --per-iteration 2 --C 1", "fgm --loss logistic --per-iteration 4 --iterations 2 --confounds age --subproblem-tol 1e-8"):
    words = [*words.split(), "--target", "dx", "-q"]
    run("fit", "c", "--method", *words, "--feature-map", "poly2", "-o", "narrow", "--force")
    run("fit", "wide", "--method", *words, "--standardize", "none", "-o", "expanded", "--force")
    one, other = (table(open(m + "/selection.tsv")) for m in ("narrow", "expanded"))
    check(" ".join(words) + ": the same pairs", one["block"] == other["block"] and len(one["block"]) > 3, (one["block"], other["block"]))
    check(" ".join(words) + ": their weights", near(number(one["weight"]), number(other["weight"]), 1e-4), (one["weight"], other["weight"]))
    for a, b in (("c", "wide"), ("new", "wide_new")):
        p, q = scores_of("narrow", a), scores_of("expanded", b)
        check(" ".join(words) + ": the same scores, " + a, near(p, q, 1e-4), abs(p - q).max())

# ---- Far from 0, with weights of all sizes: what is claimed holds, or nothing is claimed ----------------------
claims = []
for seed, words in itertools.product((1, 3, 6), ("--loss logistic --iterations 2", "--C 0.001 --iterations 2")):
    own = np.random.default_rng(seed)
    far = own.normal(size=(N, 20))
    dx = np.where(far[:, 0] + 0.3 * own.normal(size=N) > 0, "a", "b")
    write("far.tsv", {"participant_id": ids[:N], **{f"f{j}": far[:, j] + 1e6 for j in range(20)}})
    write("far_people.tsv", {"participant_id": ids[:N], "dx": dx, "w": 10.0 ** own.uniform(-6, 6, N)})
    run("cohort", "--feature-table", "far.tsv", "--participants", "far_people.tsv", "-q", "-o", "far", "--force")
    out, err = run("fit", "far", "--target", "dx", "--method", "fgm", *words.split(), "--subject-weights", "w", "--standardize", "none", "-o", "far_model", "--force", "--json", "-q", code=None)
    said = json.load(open("far_model/model.json"))["outputs"][0]
    if said["converged"]:
        out, err = run("check-model", "far_model", "far", "--json", code=None)
        checked = json.loads(out)
        claims.append(checked["holds"])
        check(f"{words}, seed {seed}: what is claimed is confirmed", checked["holds"] is True, (said["gap"], out, err))
check("something is claimed", len(claims) > 1, claims)
finish()
