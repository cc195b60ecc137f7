# What a command warns of is in what its --json prints, word for word, and so is what its files keep.
awk 'BEGIN { srand(7); print "scan_id\ta\tb\tc" > "f.tsv"; print "scan_id\tclient\tage\tsite\tdx\ty" > "t.tsv"
    for (i = 0; i < 40; i++) {
        print "scan" 1000 + i "\t" rand() "\t" rand() "\t" rand() > "f.tsv"
        print "scan" 1000 + i "\t" 4000 + int(i / 2) "\t" 20 + int(60 * rand()) "\ts" int(i / 4) % 4 "\t" (rand() < 0.5 ? "x" : "z") "\t" (i == 3 ? "n/a" : rand()) > "t.tsv" } }'
# usage: agrees COMMAND...: its JSON has the warnings that standard error has, in their order; how many: $count
agrees() {
    case "$*" in *" -o "*) set -- "$@" --force ;; esac
    run voxsift "$@" --json
    cp "$work/out" printed
    "$PYTHON" - "$work/err" << 'EOP' > "$work/verdict" 2>&1
import json, re, sys
said = [re.sub(r"^voxsift [a-z-]+: warning: ", "", line.rstrip("\n")) for line in open(sys.argv[1]) if ": warning: " in line]
have = json.load(open("printed")).get("warnings")
print(len(said) if have == said else f"{have} is not {said}")
EOP
    count=$(cat "$work/verdict")
    case $code in 0 | 3) ;; *) count="exit $code" ;; esac
}
warns() { # how many, COMMAND...
    local wanted=$1
    shift
    agrees "$@"
    same "$*" "$count" "$wanted"
}
kept() { # FILE: its warnings are among those that were printed
    same "$1" "$("$PYTHON" -c "
import json
a, b = json.load(open('$1'))['warnings'], json.load(open('printed'))['warnings']
print(len(a) > 0 and set(a) <= set(b))")" True
}
few=(--target y --nlambda 3)
warns 1 cohort --feature-table f.tsv --participants t.tsv --id-column scan_id -o c
warns 1 cohort --feature-table f.tsv --participants t.tsv --id-column scan_id --dry-run
warns 3 cv c "${few[@]}" --group site -o v # who has no value, persons, few groups
kept v/cv.json
run voxsift cv c "${few[@]}" --group site -o v -q --json --force
same "--quiet leaves lines out, not results" "$("$PYTHON" -c "import json; print(len(json.load(open('$work/out'))['warnings']))")" 3
run voxsift cv c "${few[@]}" --group site --folds-from v/folds.tsv --method graphnet -q -o v2
warns 1 compare v v2 -o w # few groups
warns 2 permute c "${few[@]}" --permutations 2 -o p
kept p/permute.json
warns 2 stability c "${few[@]}" --pairs 2 -o s
kept s/stability.json
warns 2 fit c "${few[@]}" --choose-lambda 2 -o m
kept m/model.json
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "rare" : NR < 4 ? "few" : "most" }' t.tsv > rare.tsv
works "a rare class" voxsift cohort --feature-table f.tsv --participants rare.tsv --id-column scan_id --person scan_id -q -o r
warns 1 fit r --target rare --method fgm --iterations 1 -o f # not calibrated
warns 1 predict f r # trained on all
warns 1 predict f r --training-too
warns 1 path c "${few[@]}"
for k in 1 2; do warns 2 stability c "${few[@]}" --pairs 2 --chunk $k/2 -o part-$k; done
warns 2 merge part-1 part-2 -o s
kept s/stability.json
warns 1 info m # as it was fitted
kept m/model.json
warns 0 info c
warns 0 info f.tsv
sed 's/scan_id/participant_id/; s/scan1001/scan1000/' t.tsv > twins.tsv
warns 1 info twins.tsv
warns 0 info c/features.npy
warns 1 check-model m c # who is left out
rm m/sha256sums
warns 2 check-model m c
warns 0 simulate lasso --subjects 8 --features 9 -o l
warns 0 version
warns 0 methods
"$PYTHON" - << 'EOP'
import nibabel as nib, numpy as np
nib.save(nib.Nifti1Image(np.zeros((4, 4, 4), "f4"), np.eye(4)), "none.nii.gz")
rows = ["participant_id\timage\tlabel"]
for name in "abcd":
    values = np.random.default_rng(ord(name)).random((6, 6, 6)).astype("f4") + 1
    if name == "a":
        values[2, 2, 2] = np.nan
    nib.save(nib.Nifti1Image(values, np.eye(4)), f"{name}.nii.gz")
    nib.save(nib.Nifti1Image((values > 1.5).astype("u1"), np.eye(4)), f"{name}_label.nii.gz")
    rows.append(f"sub-{name}\t{name}.nii.gz\t{name}_label.nii.gz")
open("images.tsv", "w").write("\n".join(rows) + "\n")
EOP
warns 1 patches images.tsv --image-column image --label-column label --per-class 9 -o w # who has gaps
warns 1 info none.nii.gz
warns 1 regions none.nii.gz --threshold 1
warns 2 match a.nii.gz none.nii.gz --resample # NaN, and nothing
# every command whose help has --json is among these
for command in $(voxsift help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
    voxsift help "$command" | grep -q -e '--json ' || continue
    grep -qE "^(for.*do )?(warns|run voxsift) ?[0-9]* $command( |$)" "$top/tests/cli/test_warnings.sh" && pass || fail "nobody tests --json of $command"
done
rm -rf ./*
nothing_left "warnings"
