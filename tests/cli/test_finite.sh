# Features that are NaN or infinite are refused by name, whoever reads them; files of features are
# known by their SHA-256; and what overflows is no model.
simulated() { voxsift simulate "$@" > /dev/null; }
simulated spheres -o v --subjects 40 --shape 8,8,8 --radius 2 --regions 1 --target diagnosis --seed 3 --write-images
simulated lasso -o d --subjects 40 --features 60 --seed 2
"$PYTHON" - << 'PY'
import numpy as np
rng = np.random.default_rng(1)
x = rng.normal(size=(30, 60)) * (rng.random((30, 60)) < 0.08)
with open("s.txt", "w") as f:
    for row in x:
        f.write(("1" if row.sum() > 0 else "-1") + "".join(f" {j + 1}:{v:.4f}" for j, v in enumerate(row) if v) + "\n")
np.save("x.npy", x)
open("rows.tsv", "w").write("participant_id\tscore\n" + "".join(f"p{i}\t{i}\n" for i in range(30)))
PY
made() { voxsift cohort "$@" > /dev/null 2>&1; }
made --svmlight s.txt -o s
made --npy x.npy --rows rows.tsv -o t
made v/participants.tsv --pattern '{participant_id}.nii.gz' --mask v/mask.nii.gz -o i
made v/participants.tsv --pattern '{participant_id}.nii.gz' --mask v/mask.nii.gz --scale z --smooth 4 --nthreads 2 -o b

# every writer records what it wrote
for c in v d s t i b; do
    "$PYTHON" - "$c" > "$work/hashes" << 'PY'
import hashlib, json, sys
about = json.load(open(f"{sys.argv[1]}/cohort.json"))
said = {f["file"]: f["sha256"] for f in about["features_files"]}
found = {n: hashlib.sha256(open(f"{sys.argv[1]}/{n}", "rb").read()).hexdigest() for n in said}
print(about["features_finite"], said == found, len(said))
PY
    same "cohort.json of $c knows its features" "$(cat "$work/hashes")" "True True $([ $c = s ] && echo 3 || echo 1)"
done

# from elsewhere, or tampered with: X is feature 7 (or the first value of a sparse cohort)
"$PYTHON" - << 'PY'
import json, shutil, numpy as np
for c, name in (("v", "features.npy"), ("d", "features.npy"), ("s", "features.values.npy")):
    for end, value in (("nan", np.nan), ("inf", -np.inf), ("moved", 0.5)):
        to = f"{c}-{end}"
        shutil.copytree(c, to)
        x = np.load(f"{to}/{name}")
        x[(7, 3) if x.ndim == 2 else 0] = value
        np.save(f"{to}/{name}", x)
about = json.load(open("d-nan/cohort.json"))
del about["features_files"], about["features_finite"]
json.dump(about, open("d-nan/cohort.json", "w"))
shutil.copytree("d", "d-bare")
json.dump({**about}, open("d-bare/cohort.json", "w"))
PY
voxel="'v-nan/features.npy': feature 7, voxel (14, 7, 7) at (7.0, -7.0, -7.0) mm, is NaN in subject 'sub-000004'"
for m in "lasso" "fused" "skfs" "skfs --bandwidth median" "hsic-lasso" "fgm" "fgm --feature-map poly2" \
    "mslr" "fused --solver bound-propagation" "lasso --standardize none"; do
    # shellcheck disable=SC2086
    refuses 65 "$voxel" voxsift fit v-nan --target diagnosis --method $m -o x -q
done
name="'d-inf/features.npy': feature 'x7' is -infinite in subject 'sub-000004'; features must be finite numbers"
refuses 65 "$name" voxsift fit d-inf --target score -o x -q
refuses 65 "$name" voxsift path d-inf --target score -q
refuses 65 "$name" voxsift cv d-inf --target score -o x -q
refuses 65 "$name" voxsift cv d-inf --target score --chunk 1/2 -o x -q
refuses 65 "$name" voxsift permute d-inf --target score --permutations 20 -o x -q
refuses 65 "$name" voxsift stability d-inf --target score -o x -q
refuses 65 "feature 'x7' is NaN in subject 'sub-000004'" voxsift fit d-nan --target score -o x -q
sparse="'s-nan/features.values.npy': feature 'x0' is NaN in subject"
refuses 65 "$sparse" voxsift fit s-nan --target target -o x -q
refuses 65 "$sparse" voxsift cv s-nan --target target --method fgm -o x -q
[ -e x ] && fail "a refused run left its output" || pass

# subjects that are not looked at have features, too
awk 'NR == 5 { $NF = "n/a" } { print }' OFS='\t' d-inf/participants.tsv > p.tsv && mv p.tsv d-inf/participants.tsv
refuses 65 "$name" voxsift fit d-inf --target score -o x -q

# predictions read features with a weight, and check-model all of them, as files
works "a model" voxsift fit d --target score --lambda-ratio 0.001 -o m -q
works "a model of voxels" voxsift fit v --target diagnosis --method skfs -o k -q
works "a model of a sparse cohort" voxsift fit s --target target -o ms -q
refuses 65 "feature 'x7' is NaN in subject 'sub-000004'" voxsift predict m d-nan
works "its cohort" voxsift check-model m d
works "a sparse one" voxsift check-model ms s
run voxsift check-model m d --json
same "verified" "$("$PYTHON" -c 'import json; print(json.load(open("'"$work/out"'"))["features_verified"])')" True
refuses 65 "'d-moved/features.npy' was changed after the cohort was made: its SHA-256 is " voxsift check-model m d-moved
refuses 65 "'v-moved/features.npy' was changed" voxsift check-model k v-moved
refuses 65 "'s-moved/features.values.npy' was changed" voxsift check-model ms s-moved
simulated lasso -o d2 --subjects 40 --features 60 --seed 4
refuses 65 "the model was not fitted on 'd2': the SHA-256 of the features is " voxsift check-model m d2
run voxsift check-model m d-bare --json
same "nothing to verify by" "$code$("$PYTHON" -c 'import json; print(json.load(open("'"$work/out"'"))["features_verified"])')" 0False
holds "and that is said" "whether these have changed since the fit is not verified" "$work/err"
sed -i 's/"features.npy"/"other.npy"/' d-moved/cohort.json
refuses 65 "its 'features_files' does not record 'features.npy'" voxsift check-model m d-moved
refuses 65 "its 'features_files' does not record 'features.npy'" voxsift fit d-moved --target score -o x

# numbers that overflow
awk '{ print $0, NR == 1 ? "w" : NR % 3 ? 1 : 1e300 }' OFS='\t' v/participants.tsv > p.tsv && mv p.tsv v/participants.tsv
for m in lasso fused skfs fgm mslr; do
    refuses 65 "column 'w': the weight of 'sub-000002' is 1e+300; weights are from 0 to 1e+100" \
        voxsift fit v --target diagnosis --method $m --subject-weights w -o x -q
done
sed -i 's/1e+300/1e+90/' v/participants.tsv
refuses 65 "weights of samples reach from 1 to 1e+90" voxsift fit v --target diagnosis --method fgm --subject-weights w -o x -q
refuses 2 "a sparsity goes with a graph, not with terms" \
    voxsift fit d --target score --method fused --penalty trend --sparsity 1 -o x -q
[ -e x ] && fail "a refused run left its output" || pass

# a fill value: sums along a graph lose all other features in it
awk 'BEGIN { OFS = "\t"; print "participant_id", "a", "b", "c", "d"
    for (i = 1; i <= 30; i++) print "s" i, sin(i), cos(3 * i), (i == 4 ? "1e20" : sin(5 * i)), cos(7 * i) }' > fill.tsv
awk 'BEGIN { OFS = "\t"; print "participant_id", "score"; for (i = 1; i <= 30; i++) print "s" i, sin(i) + cos(11 * i) / 3 }' > who.tsv
run voxsift cohort --feature-table fill.tsv --participants who.tsv -o fill -q
for way in saif cut-pursuit bound-propagation; do
    refuses 65 "feature 'c' is too large compared with the others: its values are up to about 1e+20" \
        voxsift fit fill --target score --method fused --graph chain --solver $way -o x -q
done
works "methods without sums are as before" voxsift fit fill --target score -o x -q
