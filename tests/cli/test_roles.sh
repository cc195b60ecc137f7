# A column of the table has one role: a target, covariate or weight that is also a feature would be used twice.
"$PYTHON" - << 'EOP'
import numpy as np
rng = np.random.default_rng(5)
n = 40
y, a, w = rng.normal(size=n), rng.normal(size=n), rng.uniform(1, 2, size=n)
x = rng.normal(size=(n, 3))
ids = [f"s{i:03}" for i in range(n)]
with open("features.tsv", "w") as f:
    f.write("participant_id\tx1\tx2\tx3\ty\ta\tw\n")
    for i in range(n):
        f.write("\t".join([ids[i], *map(repr, map(float, [*x[i], y[i], a[i], w[i]]))]) + "\n")
with open("who.tsv", "w") as f:
    f.write("participant_id\ty\ta\tw\tz\n")
    for i in range(n):
        f.write("\t".join([ids[i], *map(repr, map(float, [y[i], a[i], w[i]])), repr(float(y[i] + x[i, 0]))]) + "\n")
EOP
run voxsift cohort --feature-table features.tsv --participants who.tsv --person participant_id -q -o c
same "a cohort" "$code" 0
refuses 65 "'y' is a feature of the cohort and the column of '--target'" voxsift cv c --target y -o v
refuses 65 "'a' is a feature of the cohort and the column of '--confounds'" voxsift fit c --target z --confounds a -o m
refuses 65 "'w' is a feature of the cohort and the column of '--subject-weights'" voxsift fit c --target z --subject-weights w -o m
run voxsift fit c --target z -q -o m
same "other columns" "$code" 0
rm -rf ./*
nothing_left "roles"
