# Subjects by expressions (--only, --exclude) in all commands that have subjects, and folds that hold out one group each.
voxsift simulate lasso --subjects 60 --features 20 -q -o s > "$work/out"
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "site" : "s" NR % 4, NR == 1 ? "age" : NR % 7 == 0 ? "n/a" : 50 + NR % 20 ".0",
    NR == 1 ? "dx" : NR % 3 == 0 ? "AD" : NR % 3 == 1 ? "CN" : "MCI, late", NR == 1 ? "visit" : 1; }' s/participants.tsv > who.tsv
"$PYTHON" -c "
import numpy as np
np.save('x.npy', np.load('s/features.npy').T)"
works "a cohort of four sites" voxsift cohort --npy x.npy --rows who.tsv -q -o c
chosen=(--only dx=AD,CN --exclude 'age>60')
few=(--target score --nlambda 3)
json() { "$PYTHON" -c "import json; a = json.load(open('$1')); print(a$2)"; }
expected=$(awk -F '\t' 'NR > 1 && ($5 == "AD" || $5 == "CN") && !($4 != "n/a" && $4 > 60)' who.tsv | wc -l)
awk -F '\t' -v OFS='\t' 'NR == 1 || (($5 == "AD" || $5 == "CN") && !($4 != "n/a" && $4 > 60)) { print $1 }' who.tsv | sed 1d | sort > expected

# one selection in all commands
run voxsift fit c "${few[@]}" "${chosen[@]}" -o m
same "fit" "$code $(cat "$work/err")" "0 voxsift fit: of 60 subjects, --only dx=AD,CN leaves 40, --exclude age>60 leaves $expected"
"$PYTHON" -c "import json; print(*sorted(json.load(open('m/model.json'))['training']['ids']), sep='\n')" > got
run cmp got expected
same "the subjects that the expressions name" "$code" 0
same "model.json" "$(json m/model.json "['task']['only'], a['task']['exclude'], a['flow']['selection'][1]['left_out']")" \
    "['dx=AD,CN'] ['age>60'] $((40 - expected))"
works "check-model on the same subjects" voxsift check-model m c -q
run voxsift path c --target score "${chosen[@]}"
same "path" "$code" 0
holds "path says it" "leaves $expected" "$work/err"
works "stability" voxsift stability c --target score "${chosen[@]}" --pairs 4 -q -o st
same "stability's subjects" "$(json st/stability.json "['subjects']")" "$expected"
works "permute" voxsift permute c "${few[@]}" "${chosen[@]}" --permutations 5 -q -o pe
same "permute's subjects" "$(json pe/permute.json "['subjects']")" "$expected"
works "cv" voxsift cv c "${few[@]}" "${chosen[@]}" --bootstraps 100 -q -o v
works "its page" voxsift report v -q -o v.html
holds "the page has the expression" "excluded by --exclude age&gt;60" v.html
for k in 1 2; do voxsift cv c "${few[@]}" "${chosen[@]}" --bootstraps 100 --chunk $k/2 -q -o v-$k > "$work/out"; done
works "merge" voxsift merge v-1 v-2 -q -o vm
run cmp v/predictions.tsv vm/predictions.tsv
same "parts as the whole" "$code" 0
voxsift cv c "${few[@]}" --only dx=AD,CN --bootstraps 100 --chunk 2/2 -q -o other > "$work/out"
run voxsift merge v-1 other -o never
same "parts of different subjects" "$code" 65
works "predict" voxsift predict m c --only site=s0,s1 --exclude dx=AD -q
same "predict's rows" "$(sed 1d "$work/out" | wc -l)" "$(awk -F '\t' '($3 == "s0" || $3 == "s1") && $5 != "AD"' who.tsv | wc -l)"

# checkpoints are of one selection
stopped v2 voxsift cv c "${few[@]}" "${chosen[@]}" --folds 5 --repeats 40 --bootstraps 100 -q
if [ -e v2.checkpoint ]; then
    run voxsift cv c "${few[@]}" --only dx=AD,CN --folds 5 --repeats 40 --bootstraps 100 -q --resume -o v2
    same "resumed with other subjects" "$code" 65
fi
rm -rf v2 v2.checkpoint

# in a cohort
run voxsift cohort --npy x.npy --rows who.tsv "${chosen[@]}" -o sub
same "cohort" "$code" 0
holds "the count" "$expected subjects of $expected people ($((60 - expected)) not selected)" "$work/out"
same "cohort.json" "$(json sub/cohort.json "['not_selected'], a['dropped'], a['selection'][0]['left_out'], len(a['not_selected_list'])")" \
    "$((60 - expected)) 0 20 $((60 - expected))"
holds "the reason" '"excluded by --exclude age>60"' sub/cohort.json
cut -f 1 sub/participants.tsv | sed 1d | sort > got
run cmp got expected
same "the same subjects as of fit" "$code" 0
works "cv of it" voxsift cv sub "${few[@]}" --bootstraps 100 -q -o vs
same "the same result but for rounding" "$("$PYTHON" -c "
import json
import csv
a, b = ([float(r['predicted']) for r in csv.DictReader(open(d + '/predictions.tsv'), delimiter='\t')] for d in ('v', 'vs'))
print(max(abs(x - y) for x, y in zip(a, b, strict=True)) < 1e-6, json.load(open('vs/cv.json'))['flow']['read'])")" "True 60"
works "its page" voxsift report vs -q -o vs.html
holds "the cohort's selection" "not selected by --only dx=AD,CN" vs.html
# tables of features are selected by their own columns, or by those of --participants
awk -F '\t' -v OFS='\t' '{ print $1, $4, $2 }' who.tsv > f.tsv
run voxsift cohort --feature-table f.tsv --only 'age<55' -q -o ft
same "a table of features" "$code $(sed 1d ft/participants.tsv | wc -l)" "0 $(awk -F '\t' 'NR > 1 && $4 != "n/a" && $4 < 55' who.tsv | wc -l)"
# rows of one id of which one is selected; a visit without an image concerns nobody
"$PYTHON" - << 'END'
import nibabel as nib, numpy as np
rng = np.random.default_rng(1)
with open("visits.tsv", "w") as f:
    print("participant_id", "session_id", "img", sep="\t", file=f)
    for k in range(6):
        for s in ("M00", "M12"):
            print(f"sub-{k}", s, f"i{k}{s}.nii.gz" if (k, s) != (2, "M12") else "n/a", sep="\t", file=f)
            nib.save(nib.Nifti1Image((5 + rng.normal(size=(6, 6, 6))).astype("f4"), np.eye(4)), f"i{k}{s}.nii.gz")
END
run voxsift cohort visits.tsv --image-column img -o never
same "two sessions of each" "$code" 65
holds "the cure" "several sessions?" "$work/err"
works "one session of each" voxsift cohort visits.tsv --image-column img --only session_id=M00 -q -o one
same "its subjects" "$(sed 1d one/participants.tsv | wc -l) $(json one/cohort.json "['not_selected'], len(a['rows_without_data'])")" "6 6 0"
refuses 2 "--only and --exclude require a table of subjects; pass --participants" voxsift cohort i0M00.nii.gz i1M00.nii.gz --only a=b -o never

# what cannot be meant
refuses 65 "no row has the value 'ADD' in column 'dx' (did you mean 'AD'?); it has 'AD', 'CN', 'MCI, late'" \
    voxsift fit c "${few[@]}" --only dx=ADD -o never
refuses 65 "has no column 'dy'; did you mean 'dx'?" voxsift fit c "${few[@]}" --exclude dy=AD -o never
refuses 65 "no row is left of the 60 rows of 'c/participants.tsv': --only dx=AD leaves 20, --exclude age>0 leaves 2, --exclude age= leaves 0" \
    voxsift cv c "${few[@]}" --only dx=AD --exclude 'age>0' --exclude age= -o never
refuses 2 "no number is behind the sign in 'age>old'" voxsift fit c "${few[@]}" --only 'age>old' -o never
run voxsift fit c "${few[@]}" --only 'dx="MCI, late"' -q -o q
same "a value with a comma" "$code $(json q/model.json "['training']['ids'].__len__()")" "0 20"

# one group held out at a time
run voxsift cv c "${few[@]}" --group site --folds group --bootstraps 100 -o g
same "cv" "$code" 0
holds "the log" "4 folds: one site held out in each" "$work/err"
holds "inside" "3 inner folds: one site held out in each" "$work/err"
same "names" "$(json g/cv.json "['folds'], a['cross_validation']['folds'], [f['groups'] for f in a['each_fold']]")" \
    "4 group [['s0'], ['s1'], ['s2'], ['s3']]"
"$PYTHON" - > "$work/out" << 'END'
import csv
def table(p): return list(csv.DictReader(open(p), delimiter="\t"))
site = {r["participant_id"]: r["site"] for r in table("who.tsv")}
assert all(r["fold"] == site[r["participant_id"]] for r in table("g/folds.tsv"))
inner = table("g/inner_folds.tsv")
pairs = {}
for r in inner:
    fold = next(v for k, v in r.items() if "inner" in k)
    if fold not in ("", "n/a"):
        pairs.setdefault((r["fold"], fold), set()).add(site[r["participant_id"]])
assert len(pairs) == 12 and all(len(v) == 1 for v in pairs.values()), pairs
print("one site each")
END
same "inner folds" "$(cat "$work/out")" "one site each"
works "its page" voxsift report g -q -o g.html
holds "in words" "one site held out in each" g.html
for k in 1 2; do voxsift cv c "${few[@]}" --group site --folds group --bootstraps 100 --chunk $k/2 -q -o g-$k > "$work/out"; done
works "merged" voxsift merge g-1 g-2 -q -o gm
run cmp g/predictions.tsv gm/predictions.tsv
same "as the whole" "$code" 0
works "permute" voxsift permute c "${few[@]}" --group site --folds group --permutations 4 -q -o gp
same "its r" "$(json gp/permute.json "['cross_validation']['folds']")" group
works "two groups: persons inside" voxsift cv c "${few[@]}" --group site --folds group --only site=s0,s1 --bootstraps 100 -q -o g2
same "five inner folds" "$(json g2/cv.json "['inner_folds'], [f['groups'] for f in a['each_fold']]")" "5 [['s0'], ['s1']]"
works "dealt groups are named" voxsift cv c "${few[@]}" --group site --folds 2 --inner-folds 2 --bootstraps 100 -q -o g3
same "two sites a fold" "$(json g3/cv.json "['each_fold'][0]['groups'].__len__(), sorted(sum((f['groups'] for f in a['each_fold']), []))")" \
    "2 ['s0', 's1', 's2', 's3']"
works "fit" voxsift fit c "${few[@]}" --group site --choose-lambda group -q -o gf
works "fit with as many folds as sites" voxsift fit c "${few[@]}" --group site --choose-lambda auto -q -o ga
run cmp gf/weights.tsv ga/weights.tsv
same "four sites either way" "$code" 0
refuses 2 "'--folds group' goes with '--group COLUMN'" voxsift cv c "${few[@]}" --folds group -o never
refuses 2 "'--folds group' needs at least 2 groups of column 'visit'; there is 1" voxsift cv c "${few[@]}" --group visit --folds group -o never
refuses 2 "always the same" voxsift cv c "${few[@]}" --group site --folds group --repeats 2 -o never
refuses 2 "exclude each other" voxsift cv c "${few[@]}" --group site --folds group --folds-from site -o never
