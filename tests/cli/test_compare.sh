# Finished cross-validations compared: by Python, in words; every way to give what cannot be compared.
run "$PYTHON" "$top/tests/evaluate/compare_agrees.py"
same "compared as it should be" "$code$(cat "$work/out" "$work/err")" 0

# what compare_agrees.py made: cohorts c and scans, cross-validations score-1, dx-1, dx-2, three-1, one-1, ...
compare() { refuses "$1" "$2" voxsift compare "${@:3}"; }
works "in words" voxsift compare dx-1 dx-2 -q --permutations 99 -o out
holds "what" "Comparison of 2 cross-validations of 'dx', 60 subjects: 5 folds, 2 repeats" "$work/out"
holds "options" "  ridge: dx-1 0, dx-2 20" "$work/out"
holds "the sentence" "  dx-1 predicts better than dx-2 by 0." "$work/out"
same "the files" "$(ls out | tr '\n' ' ')" "compare.json compare.tsv "
same "a row each" "$(cut -f 1-3 out/compare.tsv | tail -n +2 | tr '\t\n' '  ')" "auc dx-1 n/a auc dx-2 n/a auc dx-1 dx-2 "
compare 73 "'out': it exists; pass --force to replace it" dx-1 dx-2 -o out
works "again" voxsift compare dx-1 dx-2 -q --permutations 99 --bootstraps 100 -o out --force
compare 73 "cannot write 'dx-1'" dx-1 dx-2 -o dx-1 --force
works "what was compared is still there" voxsift compare dx-1 dx-2 -q --permutations 99 --bootstraps 100

# baselines of a cross-validation: values, differences and intervals are those of cv.json
for cv in dx-1 score-1 three-1 one-1; do
    bootstraps=$("$PYTHON" -c "import json; print(json.load(open('$cv/cv.json'))['cross_validation']['bootstraps'])")
    dense=$cv/:dense
    [ $cv = one-1 ] && dense= # it has no inner folds
    run voxsift compare $cv $cv:constant $cv:global_signal $dense --metric all --permutations 99 --bootstraps "$bootstraps" -q -o "base-$cv"
    same "$cv and its baselines" "$code" 0
    "$PYTHON" - "$cv" << 'EOP' > "$work/out" 2>&1
import json, sys
cv, said = json.load(open(f"{sys.argv[1]}/cv.json")), json.load(open(f"base-{sys.argv[1]}/compare.json"))
names = [m.get("baseline") for m in said["models"]]
assert names == [None, "constant", "global_signal", "dense"][:3 if sys.argv[1] == "one-1" else 4], names
assert [m["name"] for m in said["models"]] == [sys.argv[1] + (":" + b if b else "") for b in names]
near = lambda a, b: (a is None and b is None) or abs(a - b) < 1e-9
count = 0
for m, b in zip(said["models"], names):
    for metric, v in m["metrics"].items():
        want = cv["baseline"][b][metric] if b else cv["outer"][metric]["pooled"]
        assert metric == "calibration_slope" or near(v["value"], want), (b, metric, v, want)
for pair in said["pairs"]:
    first, second = pair["first"], pair["second"]
    if first == sys.argv[1]:
        for metric, d in pair["metrics"].items():
            want = cv["difference"][second.split(":")[1]][metric]
            assert metric == "calibration_slope" or all(near(d[k], want[k]) for k in ("low", "high")), (second, metric, d, want)
            count += 1
assert count >= 12, count
EOP
    same "$cv: as in cv.json" "$?$(cat "$work/out")" 0
done
works "a page" voxsift report base-dx-1 -o base.html
holds "with the baseline" "dx-1:dense" base.html
holds "the page says of what they are" "All of one cross-validation." base.html
holds "and what each is" " is the dense linear baseline of " base.html
run voxsift compare dx-1 dx-1:constant --permutations 99 --bootstraps 100
holds "and so does the terminal" "all of one cross-validation" "$work/out"
holds "and what each is" "dx-1:constant: the constant baseline of dx-1" "$work/out"
compare 65 "'dx-1/baselines.tsv' has no baseline 'covariates'" dx-1 dx-1:covariates
compare 2 "'dx-1:dense' is given twice" dx-1:dense dx-1:dense
compare 66 "no cross-validation 'dx-1:dens'" dx-1 dx-1:dens
# a directory that is really called like a baseline is meant itself; with a slash it is the baseline
cp -r dx-2 dx-1:dense
run voxsift compare dx-1 dx-1:dense dx-1/:dense -q --permutations 99 --bootstraps 100 --json
same "a directory called like a baseline" \
    "$code$("$PYTHON" -c "import json; print([(m['name'], m['directory'], m.get('baseline')) for m in json.load(open('$work/out'))['models']])")" \
    "0[('dx-1', 'dx-1', None), ('dx-1:dense', 'dx-1:dense', None), ('dx-1/:dense', 'dx-1', 'dense')]"
rm -r dx-1:dense

compare 2 "CV is missing"
compare 2 "give two or more directories of 'voxsift cv' to compare" dx-1
compare 2 "'dx-1/' is given twice" dx-1 dx-1/
compare 2 "'acc' is no metric of classes; did you mean 'auc'?" dx-1 dx-2 --metric acc
compare 2 "'auc' is no metric of scores" score-1 score-2 --metric auc
compare 2 "'f2' is no metric of more than two classes; did you mean 'f1'?" three-1 three-2 --metric f2
compare 2 "'--permutations'" dx-1 dx-2 --permutations 10
compare 66 "no cross-validation 'nowhere'" dx-1 nowhere
compare 66 "'c' is a cohort, not a cross-validation" dx-1 c
run voxsift cv c --target dx --nlambda 4 --bootstraps 100 --chunk 1/2 -q -o part
compare 66 "'part' is a chunk of a run, not a cross-validation" dx-1 part

# not the same task
compare 65 "'dx-1' and 'score-1' have different targets: classes in one and a score in the other" dx-1 score-1
compare 65 "'dx-1' and 'three-1' have different classes: the first is 'no' in one and 'a' in the other" dx-1 three-1
cv() { run voxsift cv c --nlambda 4 --bootstraps 100 -q "$@"; }
cv --target dx --positive no --repeats 2 -o turned
compare 65 "'dx-1' and 'turned' have different classes: the first is 'no' in one and 'yes' in the other" dx-1 turned
compare 65 "'dx-1' and 'flat-1' have different folds: 2 repeats in one and 1 in the other" dx-1 flat-1
cv --target dx --repeats 2 --seed 2 -o seed
compare 65 "'dx-1' and 'seed' have different folds: in repeat 1 'sub-0" dx-1 seed
holds "what helps" "use --folds-from dx-1/folds.tsv" "$work/err"
cv --target dx --folds 4 -o four
compare 65 "'flat-1' and 'four' have different folds: " flat-1 four
cv --target dx --positive yes --exclude 'site=p' -o fewer
compare 65 "'flat-1' and 'fewer' are of different subjects: 60 in one and 45 in the other" flat-1 fewer
compare 65 "'dx-1' and 'scans-1' are of different subjects: 'sub-00_ses-1' is not in the first" dx-1 scans-1
cp -r score-1 shifted && cv --target age --folds-from score-1/folds.tsv -o age
compare 65 "'score-1' and 'age' have different targets: 'sub-00' is" score-1 age

# files that were edited
edited() { # FILE SED CODE PART
    rm -rf t && cp -r dx-2 t && sed -i "$2" "t/$1"
    compare "$3" "$4" dx-1 t
    compare "$3" "" t dx-1
}
edited cv.json 's/"voxsift cross-validation"/"voxsift model"/' 65 "'t/cv.json' is not of format 'voxsift cross-validation'"
edited cv.json 's/"subjects": 60/"subjects": 59/' 65 "'t/cv.json': the test subjects in 'each_fold' are not its 59 subjects in 2 repeats"
edited cv.json 's/"subjects": 60/"subjects": -1/' 65 "'t/cv.json' has no number 'subjects'"
edited cv.json 's/"repeats": 2/"repeats": 1e300/' 65 "'t/cv.json' has no number 'repeats'"
edited cv.json 's/"repeats": 2/"repeats": "two"/' 65 "'t/cv.json' has no number 'repeats'"
edited cv.json 's/"each_fold"/"other"/' 65 "'t/cv.json': the test subjects in 'each_fold'"
edited cv.json 's/"training": [0-9]*/"training": 1e308/' 65 "'t/cv.json': the test subjects in 'each_fold'"
edited cv.json 's/"test": 12/"test": 13/' 65 "'t/cv.json': the test subjects in 'each_fold'"
edited cv.json 's/"classes": {/"classes": {"x": 1,/' 65 ""
edited cv.json 's/"method": "lasso"/"method": "other"/' 65 "'t/cv.json' does not record what was done: method"
edited cv.json 's/"pooled": 0[0-9.]*/"pooled": 0.123/' 65 "'t/cv.json' and 'predictions.tsv' beside it disagree: balanced_accuracy is 0.123 in one and"
edited cv.json '$d' 65 "t/cv.json"
edited predictions.tsv '5d' 65 "'t/predictions.tsv' has 119 rows and 'cv.json' says that there are 60 subjects in 2 repeats"
edited predictions.tsv '3s/^sub-0[0-9]/sub-00/' 65 "'t/predictions.tsv' line 3: a subject that is there twice in this repeat"
edited predictions.tsv '3s/^sub-01/nobody/' 65 ""
edited predictions.tsv '3s/\t1\t/\t3\t/' 65 "'t/predictions.tsv' line 3: there is no such repeat"
edited predictions.tsv '3s/\t\(yes\|no\)\t/\tmaybe\t/' 65 "'t/predictions.tsv' line 3: the true class is none of those in cv.json"
edited predictions.tsv '3s/[0-9.e-]*$/2/' 65 "'t/predictions.tsv' line 3, column 'p_yes': no probability"
edited predictions.tsv '3s/[0-9.e-]*$/n\/a/' 65 "'t/predictions.tsv' line 3, column 'p_yes': no probability"
edited predictions.tsv '3s/[0-9.e-]*$/many/' 65 "'t/predictions.tsv' line 3, column 'p_yes': 'many' is not a number"
edited predictions.tsv '1s/score_yes/score/' 65 "'t/predictions.tsv' has no column 'score_yes'"
edited predictions.tsv '1s/truth/truths/' 65 "'t/predictions.tsv' has no column 'truth'"
edited folds.tsv '1s/group/groups/' 65 "'t/folds.tsv' has no column 'group'"
edited folds.tsv '3s/[0-9]*$/1e9/' 65 "'t/folds.tsv' line 3: no group"
edited folds.tsv '3s/[0-9]*$/60/' 65 "'t/folds.tsv' line 63: another group than in another repeat"
edited folds.tsv '3s/^sub-01/nobody/' 65 "'t/folds.tsv' line 3: no subject of predictions.tsv"
for file in cv.json predictions.tsv folds.tsv; do
    rm -rf t && cp -r dx-2 t && rm t/$file
    compare 66 "" dx-1 t
    [ $file = cv.json ] || holds "which" "cannot read 't/$file'" "$work/err"
done
rm -rf t && cp -r one-2 t && cut -f 1-8 one-2/predictions.tsv > t/predictions.tsv
compare 65 "'t/predictions.tsv' has no column 'aligned_yes'" one-1 t

refuses 2 "unknown command 'delong'; did you mean 'compare'" voxsift delong
compare 2 "'--permutations'" dx-1 dx-2 --n-permutations 10

# the page
works "a page" voxsift report out -o out.html
rm -rf t && cp -r out t && sed -i '/"pairs": \[/,$d' t/compare.json && echo '"pairs": [], "seconds": 1 }' >> t/compare.json
refuses 65 "'t/compare.json' has no models, or no pairs of them" voxsift report t -o x.html
sed -i 's/"swaps": [0-9]*,/"swaps": "many",/' t/compare.json
refuses 65 "'t/compare.json' has no number 'swaps'" voxsift report t -o x.html
compare 66 "'out' is a comparison, not a cross-validation" dx-1 out
rm -rf ./*
nothing_left "compare"
