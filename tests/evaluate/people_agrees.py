"""A person is never in training and test at once. 160 scans of 80 persons whose features are the person's own, but for a
little noise; targets that are random numbers of the persons. Whatever is asked for, scores are at chance, and a person is in
one fold, one inner fold, one half; a program that splits persons predicts such targets with r above 0.8. Runs in an empty
directory."""
import json
import os
import shutil
import sys

import nibabel as nib
import numpy as np
from oracle import check, finish, near, run, same, table, write

rng = np.random.default_rng(31)
PERSONS, P, TRAITS = 80, 120, 4
persons = [f"sub-{k:03}" for k in range(1, PERSONS + 1)]
who = rng.permutation(np.repeat(np.arange(PERSONS), 2))  # the scans of a person are not neighbors
visit = np.zeros(len(who), int)
for k in range(PERSONS):
    visit[np.flatnonzero(who == k)] = [0, 1]
N = len(who)
own = rng.normal(size=(PERSONS, P))
X = (own[who] + 0.3 * rng.normal(size=(N, P))).astype("f4")
traits = rng.normal(size=(PERSONS, TRAITS))
site = np.array(list("abcdefghij"))[np.arange(PERSONS) // 8]  # of a person
moved = site[who].copy()  # two persons were scanned at two sites
for k in (0, 8):
    moved[(who == k) & (visit == 1)] = site[k + 8]
columns = {"participant_id": [persons[k] for k in who], "session": np.array(["M00", "M24"])[visit], "site": site[who], "moved": moved,
           "state": rng.normal(size=N), "pair": who // 2, **{f"t{k}": traits[who, k] for k in range(TRAITS)},
           **{f"d{k}": np.where(traits[who, k] > 0, "yes", "no") for k in range(TRAITS)}}
plain = [f"scan{1001 + i}" for i in range(N)]  # ids that do not spell the person
bids = [f"{persons[k]}_ses-M{24 * v:02}" for k, v in zip(who, visit)]
quick = ["--nlambda", "6", "--folds", "5", "--inner-folds", "3", "-q"]


def cohort(name, ids, people, *words, id_column="scan_id", code=0):
    """A cohort of the table `people` beside features; the rows of the table are not in their order."""
    write("x.tsv", {id_column: ids, **{f"f{j}": X[:, j] for j in range(P)}})
    order = rng.permutation(N)
    write("people.tsv", {k: np.asarray(v)[order] for k, v in {id_column: ids, **people}.items()})
    return run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "--id-column", id_column, "-o", name, "--force",
               *words, code=code)


def person_of(c):
    about, t = json.load(open(c + "/cohort.json")), table(open(c + "/participants.tsv"))
    return dict(zip(t[about["id_column"]], t["truth"] if "truth" in t else [persons[k] for k in who]))


def is_whole(what, path, ids, keys, value):
    """In each repeat, fold or pair a person has one value."""
    t, seen = table(open(path)), {}
    at = {i: k for i, k in zip(ids, who)}
    for row in range(len(t[ids_column(t)])):
        key = (at[t[ids_column(t)][row]], *(t[k][row] for k in keys))
        seen.setdefault(key, set()).add(t[value][row])
    split = sum(len(v) > 1 for v in seen.values())
    check(f"{what}: no person is split", split == 0, f"{split} of {len(seen)}")


def ids_column(t):
    return next(iter(t))


def at_chance(what, c, ids, *words):
    """All traits, as scores and as classes."""
    r, auc = [], []
    for k in range(TRAITS):
        said = json.loads(run("cv", c, "--target", f"t{k}", *quick, *words, "--json", "-o", "v", "--force")[0])
        r.append(said["outer"]["r"]["pooled"])
        is_whole(f"{what} folds", "v/folds.tsv", ids, ["repeat"], "fold")
        is_whole(f"{what} inner folds", "v/inner_folds.tsv", ids, ["repeat", "fold"], "inner_fold")
        check(f"{what}: persons are counted", said["people"] == PERSONS and said["subjects"] == N, (said["people"], said["subjects"]))
    said = json.loads(run("cv", c, "--target", "d0", *quick, *words, "--json", "-o", "v", "--force")[0])
    check(f"{what}: r is at chance", max(r) < 0.35 and abs(np.mean(r)) < 0.25, np.round(r, 2))
    check(f"{what}: AUC is at chance", said["outer"]["auc"]["pooled"] < 0.68, said["outer"]["auc"]["pooled"])


# ---- Every way to know who is who, every group ------------------------------------------------------
cohort("scans", plain, columns)
t, about = table(open("scans/participants.tsv")), json.load(open("scans/cohort.json"))
check("columns are called as they were", list(t) == ["scan_id", *columns], list(t))
check("what they are is said", (about["id_column"], about["person_column"], about["people"]) == ("scan_id", "participant_id", 80))
check("persons stand where they stood", t["participant_id"] == columns["participant_id"] and t["scan_id"] == plain)
at_chance("default", "scans", plain)
for group in ("participant_id", "site", "moved", "pair"):
    at_chance("--group " + group, "scans", plain, "--group", group)
groups = json.loads(run("cv", "scans", "--target", "t0", *quick, "--group", "moved", "--json", "-o", "v", "--force")[0])["groups"]
check("sites that share a person are one", groups == 8, groups)
for command in (["cv"], ["permute"], ["stability"], ["fit", "--choose-lambda", "3"]):
    words = [*command, "scans", "--target", "t0", "-q", "-o", "no"]
    _, err = run(*words, "--group", "scan_id", code=2)
    check("a finer group", "'--group scan_id' is finer than the person (column 'participant_id'): 'scan" in err
          and "are of one person" in err and err.count("\n") == 1, err)
    _, err = run(*words, "--group", "session", code=2)
    check("a group that all persons cross", "of column 'session'; there is 1, for persons with several values join its 2 values" in err, err)
_, err = run("cv", "scans", "--target", "t0", "-q", "-o", "no", "--folds-from", "session", code=65)
check("folds that split persons", "are of one person, but are in folds M00 and M24" in err, err)
folds = table(open("v/folds.tsv"))
check("folds name subjects as the table does", ids_column(folds) == "scan_id")
run("cv", "scans", "--target", "t1", *quick, "--folds-from", "v/folds.tsv", "-o", "w", "--force")
folds["fold"][0] = str(1 + int(folds["fold"][0]) % 5)
write("split.tsv", folds)
_, err = run("cv", "scans", "--target", "t1", *quick, "--folds-from", "split.tsv", "-o", "no", code=65)
check("a table of folds that splits a person", "are of one person, but are in folds" in err, err)

cohort("bids", bids, {k: v for k, v in columns.items() if k != "participant_id"})
about = json.load(open("bids/cohort.json"))
check("ids that spell it", about["person_column"] is None and about["people"] == 80)
at_chance("ids", "bids", bids)
cohort("called", plain, {"Subject ID": columns["participant_id"], **{k: v for k, v in columns.items() if k != "participant_id"}},
       id_column="participant_id")
check("another name", json.load(open("called/cohort.json"))["person_column"] == "Subject ID")
at_chance("another name", "called", plain)
codes = {"code": [f"{k * 7919 % 1000}" for k in who], **{k: v for k, v in columns.items() if k != "participant_id"}}
cohort("said", plain, codes, "--person", "code")
at_chance("--person", "said", plain)
cohort("each", plain, columns, "--person", "scan_id")
check("each its own", json.load(open("each/cohort.json"))["people"] == N)
run("cv", "each", "--target", "t0", *quick, "--group", "scan_id", "-o", "w", "--force")

np.save("x.npy", X)
write("rows.tsv", {"scan_id": plain, **columns})
run("cohort", "--npy", "x.npy", "--rows", "rows.tsv", "--id-column", "scan_id", "-q", "-o", "npy")
at_chance("npy", "npy", plain)
lines = [f"{traits[k, 0]} qid:{k} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n" for k, x in zip(who, X)]
open("x.svm", "w").writelines(lines)
run("cohort", "--svmlight", "x.svm", "--person", "qid", "-q", "-o", "svm")
said = json.loads(run("cv", "svm", "--target", "target", *quick, "--json", "-o", "v", "--force")[0])
check("svmlight", said["people"] == PERSONS and said["outer"]["r"]["pooled"] < 0.35)
is_whole("svmlight", "v/folds.tsv", table(open("svm/participants.tsv"))["participant_id"], ["repeat"], "fold")
# a column of persons among features is no feature
write("wide.tsv", {"scan_id": plain, "RID": who + 1, **{f"f{j}": X[:, j] for j in range(P)}})
_, err = run("cohort", "--feature-table", "wide.tsv", "--id-column", "scan_id", "-o", "wide")
about = json.load(open("wide/cohort.json"))
check("no feature", about["features"] == P and about["person_column"] == "RID" and about["people"] == 80
      and "column 'RID' of 'wide.tsv' identifies persons" in err and list(table(open("wide/participants.tsv"))) == ["scan_id", "RID"], err)

# images, by ids that do not spell the person
for i in range(24):
    nib.save(nib.Nifti1Image((9 + own[i // 2, :64] + 0.1 * rng.normal(size=64)).reshape(4, 4, 4).astype("f4"), np.eye(4)), f"i{i}.nii.gz")
write("images.tsv", {"scan": [f"A{7 * i % 24:02}" for i in range(24)], "Patient-ID": [f"{1 + i // 2:03}" for i in range(24)],
                     "image": [f"i{i}.nii.gz" for i in range(24)], "t": traits[np.arange(24) // 2, 0]})
run("cohort", "images.tsv", "--image-column", "image", "--id-column", "scan", "--mask-fraction", "0.5", "-q", "-o", "img")
run("cv", "img", "--target", "t", "--folds", "4", "--inner-folds", "2", "--nlambda", "3", "-q", "-o", "v", "--force")
t, f = table(open("img/participants.tsv")), table(open("v/folds.tsv"))
check("images", len(set(zip(t["Patient-ID"], f["fold"]))) == 12 and t["scan"] == f["scan"] and len(set(f["fold"])) == 4)
# two rows of one person that are written in two ways
write("ways.tsv", {"scan": ["a", "b", "c", "d"], "participant_id": ["sub-01", "1", "SUB-2 ", "002"], "f": [1, 2, 3, 4]})
run("cohort", "--feature-table", "ways.tsv", "--id-column", "scan", "-q", "-o", "ways")
check("one person however written", json.load(open("ways/cohort.json"))["people"] == 2)

# ---- What is unclear about persons ------------------------------------------------------------------
_, err = cohort("no", plain, {**columns, "subject": who // 2}, code=2)
check("columns that differ", "columns 'subject' and 'participant_id' identify different persons: 'scan" in err
      and err.count("\n") == 1 and "pass --person COLUMN" in err, err)
_, err = cohort("no", bids, {**columns, "participant_id": [persons[k // 2] for k in who]}, code=2)
check("ids that differ", "columns 'participant_id' and 'scan_id' identify different persons" in err, err)
cohort("scans2", plain, {**columns, "subject": np.arange(N)})
check("a number for each row is no person", json.load(open("scans2/cohort.json"))["person_column"] == "participant_id")
_, err = cohort("no", plain, {**columns, "participant_id": ["n/a", *columns["participant_id"][1:]]}, code=65)
check("a person who is missing", "it has no person: no value in column 'participant_id'" in err, err)
_, err = cohort("no", plain, {**{k: v for k, v in columns.items() if k != "participant_id"}, "Subject": columns["d0"]}, code=2)
check("two values are hardly persons", "column 'Subject' has 2 values for 160 subjects; pass --person Subject if these are persons, or "
      "--person scan_id if each subject is one" in err, err)
open("two.tsv", "w").write("scan\tsubject\tsubject\n" + "".join(f"{i}\t{k}\t{k}\n" for i, k in zip(plain, who)))
_, err = run("cohort", "--npy", "x.npy", "--rows", "two.tsv", "--id-column", "scan", "-o", "no", code=65)
check("a column that stands twice", "'two.tsv'" in err and "'subject'" in err and err.count("\n") == 1, err)
_, err = cohort("no", plain, columns, "--person", "participants", code=65)
check("no such column", "has no column 'participants'; did you mean 'participant_id'?" in err, err)
_, err = run("cohort", "--feature-table", "x.tsv", "--participants", "people.tsv", "--id-column", "participant_id", "-o", "no", code=65)
check("nothing half-made", not os.path.exists("no"))

# ---- Intervals, halves, permutations ----------------------------------------------------------------
fixed = ["--nlambda", "4", "--inner-folds", "0", "--lambda-ratio", "0.5", "-q", "--json", "--force"]
said = json.loads(run("cv", "scans", "--target", "t0", *fixed, "-o", "v")[0])["outer"]["r"]
each = json.loads(run("cv", "each", "--target", "t0", *fixed, "--folds-from", "v/folds.tsv", "-o", "w")[0])["outer"]["r"]
check("the same scores", near(said["pooled"], each["pooled"]))
check("intervals are of persons", said["high"] - said["low"] > 1.15 * (each["high"] - each["low"]), (said, each))

# a person with half of the scans is in a draw as often as it falls, each time whole
lone = ["lone"] * 40 + [f"p{k}" for k in range(40)]
y = np.r_[100 + rng.normal(size=40), rng.normal(size=40)]
write("lone.tsv", {"scan": [f"s{k}" for k in range(80)], "participant_id": lone, "y": y})
np.save("l.npy", rng.normal(size=(80, 5)).astype("f4"))
run("cohort", "--npy", "l.npy", "--rows", "lone.tsv", "--id-column", "scan", "-q", "-o", "lone")
interval = json.loads(run("cv", "lone", "--target", "y", *fixed, "--bootstraps", "4000", "-o", "v")[0])["outer"]["mae"]
t = table(open("v/predictions.tsv"))
e = abs(np.array(t["truth"], float) - np.array(t["predicted"], float))
sums, sizes = np.r_[e[:40].sum(), e[40:]], np.r_[40, np.ones(40)]
drawn = rng.integers(0, 41, (4000, 41))
low, high = np.quantile(sums[drawn].sum(1) / sizes[drawn].sum(1), [0.025, 0.975])
check("draws hold persons whole", near(interval["high"], high, 0.02) and near(interval["low"], low, 0.02), (interval, low, high))

run("stability", "scans", "--target", "t0", "--pairs", "6", "--nlambda", "6", "-q", "-o", "s")
halves = table(open("s/halves.tsv"))
check("halves name subjects as the table does", ids_column(halves) == "scan_id")
for k in range(6):
    is_whole("halves", "s/halves.tsv", plain, [], f"pair_{k + 1}")
run("stability", "scans", "--target", "t0", "--pairs", "6", "--nlambda", "6", "-q", "--group", "site", "-o", "s", "--force")
is_whole("halves of sites", "s/halves.tsv", plain, [], "pair_1")

small = ["--nlambda", "4", "--folds", "3", "--inner-folds", "0", "--lambda-ratio", "0.5", "--stop-at", "0", "--permutations", "19"]
ps = []
for k in range(TRAITS):
    for words in ([], ["--group", "participant_id"], ["--blocks", "site"], ["--blocks", "pair", "--whole-blocks"]):
        out, err = run("permute", "scans", "--target", f"t{k}", *small, *words, "--json", "-o", "p", "--force")
        said = json.loads(out)
        ps.append(said["p"])
        check(f"what changes places {words}", (said["exchanged"], said["units"]) == (("blocks", 40) if "pair" in words else ("people", 80)))
        check("it is said", "--whole-blocks" in words or "160 subjects of 80 persons: whole persons are exchanged" in err, err)
check("p is not small", np.mean(np.array(ps) <= 0.05) < 0.2 and np.mean(ps) > 0.25, ps)
_, err = run("permute", "scans", "--target", "t0", *small, "--blocks", "participant_id", "-o", "no", "-q", code=65)
check("nothing within persons", "nothing to permute: of 160 subjects, no two that may be exchanged differ in 't0'" in err, err)
said = json.loads(run("permute", "scans", "--target", "state", *small, "--blocks", "participant_id", "--json", "-q", "-o", "p", "--force")[0])
check("within persons", (said["exchanged"], said["units"], said["distinct_permutations"]) == ("subjects", 160, None), said)
_, err = run("permute", "scans", "--target", "t0", *small, "--blocks", "scan_id", "--whole-blocks", "-q", "-o", "no", code=2)
check("whole blocks that are finer", "'--blocks scan_id' is finer than the person (column 'participant_id')" in err, err)

# ---- Chunks -----------------------------------------------------------------------------------------
for command, words in [("cv", quick), ("permute", [*small, "-q"]), ("stability", ["--pairs", "4", "--nlambda", "6", "-q"])]:
    shutil.rmtree("whole", ignore_errors=True)
    run(command, "scans", "--target", "t0", *words, "-o", "whole")
    for k in (1, 2):
        run(command, "scans", "--target", "t0", *words, "--chunk", f"{k}/2", "-o", f"part-{k}", "--force")
    run("merge", "part-1", "part-2", "-q", "-o", "merged", "--force")
    same(command + " merged", "whole", "merged", but=("command", "seconds"))
    held = open("scans/participants.tsv").read()
    a, b = (columns["participant_id"][0], next(p for p in columns["participant_id"] if p != columns["participant_id"][0]))
    open("scans/participants.tsv", "w").write(held.replace(a, "?").replace(b, a).replace("?", b, 1))
    _, err = run("merge", "part-1", "part-2", "-q", "-o", "no", code=65)
    check("parts of other persons", "was made of another cohort" in err, err)
    open("scans/participants.tsv", "w").write(held)
finish()
