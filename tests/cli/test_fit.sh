# Models against numpy; then every mistake gets one line that says what and where, and the right code.
run "$PYTHON" "$top/tests/model/fit_agrees.py"
same "fit, path, predict and check-model agree with numpy" "$code$(cat "$work/out" "$work/err")" 0

# what fit_agrees.py made: cohorts c (voxels) and f (columns), models m, fm and conf, images in img
refuses 2 "COHORT is missing" voxsift fit
refuses 2 "option '--target COLUMN' is missing" voxsift fit c -o x
refuses 2 "option '--out DIR' is missing" voxsift fit c --target score
refuses 2 "option '--target COLUMN' is missing" voxsift path c
refuses 2 "lambda is 0; without a penalty" voxsift fit c --target score --lambda 0 -o x
refuses 2 "between 1e-15 and 10, not '0'" voxsift fit c --target score --lambda-ratio 0 -o x
refuses 2 "not '-1'" voxsift fit c --target score --lambda -1 -o x
refuses 2 "between 1e-12 and 0.1, not '0'" voxsift fit c --target score --tol 0 -o x
refuses 2 "a whole number between 2 and 10000, not '1'" voxsift path c --target score --nlambda 1
refuses 2 "that must lie between 0 and lambda_max" voxsift path c --target score --lambda-ratio 2
refuses 2 "lambda is 0; without a penalty" voxsift path c --target score --lambda 0
refuses 2 "exclude each other" voxsift fit c --target score --lambda 1 --lambda-ratio 0.1 -o x
refuses 2 "goes with '--standardize none'" voxsift fit c --target score --no-intercept -o x
refuses 73 "it is an input of this run" voxsift fit c --target score --force -o ./c/
printf 'feature\tpenalty\nroi 1\t0\n' > zero.tsv
refuses 65 "the penalty of 'roi 1' is 0; it must be above 0" voxsift fit f --target score --penalty-factors zero.tsv -o x
printf 'feature\tpenalty\nroi 99\t2\n' > unknown.tsv
refuses 65 "the cohort has no feature 'roi 99'" voxsift fit f --target score --penalty-factors unknown.tsv -o x
refuses 65 "a cohort of voxels requires one volume" voxsift fit f --target score --penalty-factors img/sub-01.nii.gz -o x
refuses 66 "cannot read 'none.npy'" voxsift fit f --target score --penalty-factors none.npy -o x
printf 'feature\tpenalty\nroi 1\t2\nroi 1\t3\n' > unknown.tsv
refuses 65 "'unknown.tsv' line 3: feature 'roi 1' stands twice" voxsift fit f --target score --penalty-factors unknown.tsv -o x
# a cohort that others made: which of two features is meant?
cp -r f f2
sed -i 's/^roi 2$/roi 1/' f2/features.tsv
printf 'feature\tpenalty\nroi 1\t2\n' > unknown.tsv
refuses 65 "'unknown.tsv' cannot be used: 'f2' has two features 'roi 1'" voxsift fit f2 --target score --penalty-factors unknown.tsv -o x
for graph in tree chain; do
    refuses 65 "'f2' has two features 'roi 1', and the graph of the model names them" \
        voxsift fit f2 --target score --method fused --graph $graph -o x
done
rm -r f2 && cp -r f f2
for key in subjects features; do
    sed "s/^  \"$key\": [0-9]*/  \"$key\": 7/" f/cohort.json > f2/cohort.json
    refuses 65 "'f2/cohort.json' says 7 $key, but features.npy has " voxsift fit f2 --target score -o x
done
rm -r zero.tsv unknown.tsv f2
works "info on a model" voxsift info m
holds "in words" "'m' is a model that predicts 'score' by lasso (squared loss)." "$work/out"
works "info on a model in JSON" voxsift info m --json
holds "its kind" '"kind": "model"' "$work/out"
cp -r c copied
awk -F '\t' -v OFS='\t' 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "score") at = k; print $0, "copy" }
    NR > 1 { print $0, 2 * $at + 3 }' c/participants.tsv > copied/participants.tsv
refuses 65 "the confounds explain it all" voxsift fit copied --target score --confounds age,copy -o x
rm -rf copied
refuses 2 "expects one of auto, squared, logistic, multinomial, squared-hinge, huber, soft-margin, epsilon, hinge, measure, not 'logistics'; did you mean 'logistic'?" \
    voxsift fit c --target score --loss logistics -o x
refuses 2 "option '--only' takes COLUMN=A,B, COLUMN!=A,B, COLUMN>60, COLUMN>=60, COLUMN<60 or COLUMN<=60, not 'half'" \
    voxsift fit c --target score --only half -o x
refuses 2 "'score' is the target; it cannot be a confound as well" \
    voxsift fit c --target score --confounds age,score -o x
refuses 2 "COHORT is missing" voxsift check-model m
refuses 2 "one source is required" voxsift predict m

# columns and values
refuses 65 "'c/participants.tsv' has no column 'scor'; did you mean 'score'?" \
    voxsift fit c --target scor -o x
refuses 65 "has no column 'scor'; did you mean 'score'?" voxsift path c --target scor
refuses 65 "has no column 'agee'; did you mean 'age'?" \
    voxsift fit c --target score --confounds site,agee -o x
refuses 65 "has no column 'hal'; did you mean 'half'?" \
    voxsift fit c --target score --only hal=one -o x
refuses 65 "no row has the value 'three' in column 'half'; it has 'one', 'two'" voxsift fit c --target score --only half=three -o x
refuses 65 "column 'half' is 'two' for all 10 subjects; there is nothing to predict" \
    voxsift fit c --target half --only half=two -o x
refuses 65 "column 'dx' holds text; '--loss squared' is of numbers" \
    voxsift fit c --target dx --loss squared -o x
refuses 65 "'c/participants.tsv' line 2, column 'site': 'York' is not a number" \
    voxsift fit c --target score --subject-weights site -o x

# cohorts that are none
refuses 66 "no cohort 'nowhere': make one with 'voxsift cohort'" \
    voxsift fit nowhere --target score -o x
refuses 66 "'img' is a directory, not a cohort (it has no cohort.json)" \
    voxsift fit img --target score -o x
refuses 66 "'people.tsv' is a file, not a cohort" \
    voxsift fit people.tsv --target score -o x
refuses 66 "'m' is a model, not a cohort" voxsift fit m --target score -o x
refuses 66 "no cohort 'nowhere': make one with 'voxsift cohort'" voxsift check-model m nowhere
refuses 65 "not the cohort that the model was fitted on" voxsift check-model fm c
refuses 65 "not the cohort that the model was fitted on" voxsift check-model m f
[ -e x ] && fail "a refused fit left its output" || pass

# sparse cohorts whose files are not believed: what is changed in a copy of the cohort sparse (500
# features of 80 subjects, all of whom have a value of the first), the exit code, what is said
cat > damage << 'EOF'
cut["values"] = 4	65	cannot read 'b/features.values.npy': 
cut["rows"] = 1	65	is it truncated?
cut["starts"] = 8	65	is it truncated?
lost = "values"	66	cannot read 'b/features.values.npy': No such file or directory
lost = "rows"	66	cannot read 'b/features.rows.npy': No such file or directory
lost = "starts"	66	cannot read 'b/features.starts.npy': No such file or directory
a["values"] = a["values"][:-1]	65	cannot use 'b/features.values.npy': a list of STORED float32 is required, as in cohort.json
a["values"] = a["values"].astype("f8")	65	cannot use 'b/features.values.npy': a list of STORED float32
a["values"] = a["values"].astype(">f4")	65	cannot use 'b/features.values.npy': a list of STORED float32
a["values"] = a["values"][None]	65	cannot use 'b/features.values.npy': a list of STORED float32
a["rows"] = a["rows"][list(range(STORED)) + [-1]]	65	cannot use 'b/features.rows.npy': a list of STORED int32
a["rows"] = a["rows"].astype("u4")	65	cannot use 'b/features.rows.npy': a list of STORED int32
a["starts"] = a["starts"][:-1]	65	cannot use 'b/features.starts.npy': a list of 501 uint64
a["starts"] = a["starts"].astype("i4")	65	cannot use 'b/features.starts.npy': a list of 501 uint64
a["rows"][79] = 80	65	cannot use 'b/features.rows.npy': feature 0 has a value of subject 80; they go from 0 to 79
a["rows"][-1] = 2**31 - 1	65	cannot use 'b/features.rows.npy': feature 499 has a value of subject 2147483647
a["rows"][3] = -1	65	cannot use 'b/features.rows.npy': feature 0 has a value of subject -1
a["rows"][[3, 4]] = 4, 3	65	cannot use 'b/features.rows.npy': the subjects of feature 0 are not in increasing order
a["rows"][4] = 3	65	cannot use 'b/features.rows.npy': the subjects of feature 0 are not in increasing order
a["starts"][0] = 1	65	cannot use 'b/features.starts.npy': it goes from 1 to STORED, not from 0 to STORED
a["starts"][-1] += 1	65	cannot use 'b/features.starts.npy': it goes from 0 to 
a["starts"][1] = 2**63	65	cannot use 'b/features.starts.npy': feature 1 begins at 9223372036854775808 and ends at
a["starts"][7] = a["starts"][6] - 1	65	cannot use 'b/features.starts.npy': feature 6 begins at
about["subjects"] = 81	65	'b/participants.tsv' has 80 rows, but cohort.json says 81 subjects
about["subjects"] = 79	65	feature 0 has a value of subject 79; they go from 0 to 78
about["subjects"] = 1e300	65	cannot use 'b/cohort.json': its 'subjects' is not a whole number from 1 to 2147483647
about["features"] = 499	65	cannot use 'b/features.starts.npy': a list of 500 uint64
about["features"] = 0	65	cannot use 'b/cohort.json': its 'features' is not a whole number from 1
del about["stored_values"]	65	cannot use 'b/cohort.json': its 'stored_values' is not a whole number
about["stored_values"] = -1	65	cannot use 'b/cohort.json': its 'stored_values' is not a whole number
about["stored_values"] -= 0.5	65	cannot use 'b/cohort.json': its 'stored_values' is not a whole number
about["stored_values"] -= 1	65	cannot use 'b/features.values.npy': a list of 
about["features_stored"] = "dense"	66	cannot read 'b/features.npy': No such file or directory
EOF
"$PYTHON" - << 'EOF'
import json, os, shutil
import numpy as np
STORED = len(np.load("sparse/features.rows.npy"))
for k, line in enumerate(open("damage")):
    folder, cut, lost = f"damaged/{k}", {}, ""
    shutil.copytree("sparse", folder)
    paths = {name: f"{folder}/features.{name}.npy" for name in ("values", "rows", "starts")}
    a = {name: np.load(path) for name, path in paths.items()}
    about = json.load(open(folder + "/cohort.json"))
    exec(line.split("\t")[0])
    for name, path in paths.items():
        np.save(path, a[name])
        os.truncate(path, os.path.getsize(path) - cut.get(name, 0))
        if name == lost:
            os.remove(path)
    json.dump(about, open(folder + "/cohort.json", "w"))
EOF
stored=$("$PYTHON" -c 'import numpy; print(len(numpy.load("sparse/features.rows.npy")))')
k=0
while IFS=$'\t' read -r _ wanted said; do
    rm -rf b && mv damaged/$k b && k=$((k + 1))
    refuses "$wanted" "${said//STORED/$stored}" voxsift fit b --target target -o x
    refuses "$wanted" "${said//STORED/$stored}" voxsift predict s0 b
    refuses "$wanted" "${said//STORED/$stored}" voxsift check-model s0 b
done < damage
same "each damage was tried" "$k $(ls damaged)" "$(wc -l < damage) "
[ -e x ] && fail "a refused fit left its output" || pass

# models that are none, or broken
refuses 66 "no model 'nowhere': fit one with 'voxsift fit'" voxsift predict nowhere c
refuses 66 "'c' is a cohort, not a model" voxsift check-model c c
broken() { # FILE TEXT: a copy of the model m whose FILE has what standard input has
    rm -rf b && cp -r m b && cat > "b/$1"
    refuses 65 "$2" voxsift predict b c
    refuses 65 "$2" voxsift check-model b c
}
broken model.json "cannot read 'b/model.json': line 2, column 1" <<< '{'
broken model.json "'b/model.json' is not of format 'voxsift model'" <<< '[]'
broken model.json "'b/model.json' has no number 'format_version'" <<< '{"format": "voxsift model"}'
broken model.json "cannot read 'b/model.json'" < <(head -c 300 m/model.json)
broken model.json "'b/model.json' is of format 1, this voxsift reads 2; make it again with this version" \
    < <(sed 's/"format_version": 2/"format_version": 1/' m/model.json)
broken model.json "'b/model.json' is of format 3, this voxsift reads 2: it was made with a later version" \
    < <(sed 's/"format_version": 2/"format_version": 3/' m/model.json)
cp -r c before && sed -i 's/"format_version": 2/"format_version": 1/' before/cohort.json
made_before="'before/cohort.json' is of format 1, this voxsift reads 2; make it again with this version"
refuses 65 "$made_before" voxsift fit before --target score -o x
refuses 65 "$made_before" voxsift info before
rm -r before
broken model.json "does not describe a model: gap" < <(sed 's/"gap": [^,]*/"gap": "small"/' m/model.json)
broken model.json "does not describe a model: iterations" < <(sed 's/"iterations": [^,]*/"iterations": -1/' m/model.json)
broken model.json "does not describe a model: primal" < <(sed 's/"primal": [^,]*/"primal": null/' m/model.json)
broken model.json "weights.tsv does not have its weights" < <(sed 's/"nonzero": [0-9]*/"nonzero": 1/' m/model.json)
broken model.json "does not describe a model: features" < <(sed 's/"features": [0-9]*/"features": 0/' m/model.json)
broken model.json "mask.nii.gz has another number of voxels" \
    < <(sed 's/"features": [0-9]*/"features": 900/' m/model.json)
broken model.json "does not describe a model: unpenalized" < <(sed 's/"unpenalized":/"other":/' m/model.json)
broken model.json "does not describe a model: lambda_max" < <(sed 's/"lambda_max":/"other":/' m/model.json)
broken weights.tsv "cannot read 'b/weights.tsv': it is empty" < /dev/null
broken weights.tsv "cannot read 'b/weights.tsv': line 3 has" \
    < <(sed '3q' m/weights.tsv | sed '3s/\t[^\t]*\t[^\t]*$//')
broken weights.tsv "weights.tsv has indices that do not rise" < <(sed '1p;2h;2d;3G' m/weights.tsv | sed 1d)
broken weights.tsv "weights.tsv has indices that do not rise" < <(sed '3{p}' m/weights.tsv)
broken weights.tsv "weights.tsv has indices that do not rise or do not fit" \
    < <(sed '$s/^[0-9]*/99999/' m/weights.tsv)
broken weights.tsv "weights.tsv has indices that do not rise or do not fit" \
    < <(sed '2s/^[0-9]*/1.5/' m/weights.tsv)
broken weights.tsv "column 'weight': 'heavy' is not a number" \
    < <(sed '2s/[^\t]*$/heavy/' m/weights.tsv)
broken weights.tsv "weights.tsv lacks a weight" < <(sed '2s/[^\t]*$/n\/a/' m/weights.tsv)
broken weights.tsv "has no column 'index'" < <(sed '1s/index/place/' m/weights.tsv)
broken mask.nii.gz "cannot read 'b/mask.nii.gz': it is not a NIfTI or ANALYZE image" < people.tsv
rm b/mask.nii.gz
refuses 66 "cannot read 'b/mask.nii.gz': No such file or directory" voxsift predict b c
rm b/weights.tsv
refuses 66 "cannot read 'b/weights.tsv': No such file or directory" voxsift predict b c

# another grid, another mask, other features
"$PYTHON" - << 'EOF'
import os
import nibabel as nib
import numpy as np
os.makedirs("moved/img")
os.makedirs("cut/img")
for name in os.listdir("img"):
    image = nib.load("img/" + name)
    affine = image.affine.copy()
    affine[0, 3] += 2
    nib.save(nib.Nifti1Image(np.asarray(image.dataobj), affine), "moved/img/" + name)
    nib.save(nib.Nifti1Image(np.asarray(image.dataobj)[:11], image.affine), "cut/img/" + name)
mask = nib.load("c/mask.nii.gz")
data = np.asarray(mask.dataobj).copy()
data[4] = 0
nib.save(nib.Nifti1Image(data, mask.affine), "less.nii.gz")
EOF
for k in moved cut; do
    cp people.tsv $k
    works "cohort $k" voxsift cohort $k/people.tsv --image-column image -q -o c_$k
done
works "cohort less" voxsift cohort people.tsv --image-column image --mask less.nii.gz -q -o c_less
refuses 65 "differs from the model's (LAS) by 2 mm at a corner" voxsift predict m c_moved
run voxsift predict m moved/people.tsv --image-column image
same "moved images are refused" "$code" 65
holds "and named" "(LAS) by 2 mm at a corner; pass --resample" "$work/err"
run voxsift predict m moved/people.tsv --image-column image --resample
same "and brought onto the model's grid" "$code" 0
run voxsift predict m img/sub-01.nii.gz
same "one image is enough" "$code $(wc -l < "$work/out")" "0 2"
refuses 65 "its grid has 11 x 10 x 9 voxels, the model's 12 x 10 x 9" voxsift predict m c_cut
run voxsift predict m cut/people.tsv --image-column image
same "smaller images are refused" "$code" 65
holds "with their size" "has 11 x 10 x 9 voxels, 'm/mask.nii.gz' has 12 x 10 x 9" "$work/err"
refuses 65 "is not the model's" voxsift predict m c_less
refuses 65 "make the cohort with --mask MODEL/mask.nii.gz" voxsift predict m c_less
refuses 65 "it was not made with the same --scale" voxsift predict prem c
refuses 65 "cannot predict for 'f'" voxsift predict m f
refuses 65 "cannot predict for 'c'" voxsift predict fm c
sed '1s/roi/region/g' features.tsv > renamed.tsv
works "other names" voxsift cohort --feature-table renamed.tsv -q -o renamed
refuses 65 "is 'region" voxsift predict fm renamed
cut -f 1-20 features.tsv > few.tsv
works "fewer features" voxsift cohort --feature-table few.tsv -q -o few
refuses 65 "cannot predict for 'few': it has 19 features, the model 25" voxsift predict fm few
cut -f 1-4,6- people.tsv > no_age.tsv
works "no age" voxsift cohort no_age.tsv --image-column image -q -o no_age
refuses 65 "'no_age/participants.tsv' has no column 'age'" voxsift predict conf no_age
refuses 66 "cannot read 'none.tsv': No such file or directory" \
    voxsift predict m none.tsv --image-column image
refuses 73 "cannot write temporary files in '/no/where'" \
    env TMPDIR=/no/where voxsift predict m people.tsv --image-column image

# outputs
refuses 73 "cannot write 'm': it exists; pass --force to replace it" voxsift fit c --target score -o m
refuses 73 "cannot write 'no/where': No such file or directory" \
    voxsift fit c --target score -o no/where
refuses 73 "it exists, and --force replaces only what voxsift made" \
    voxsift fit c --target score -o img --force
works "--force" voxsift fit c --target age -o m --force
holds "replaced" '"target": "age"' m/model.json
same "replaced whole" "$(ls m | tr '\n' ' ')" "mask.nii.gz model.json sha256sums weights.nii.gz weights.tsv "
same "no half-made output" "$(find . -name '*.part-*')$(ls -A tmp)" ""

# the end of what was tried is no optimum
voxsift simulate lasso --subjects 60 --features 40 --nonzero 0.3 --noise 0.1 --seed 4 -q -o sim > "$work/out"
run voxsift fit sim --target score --choose-lambda 3 --nlambda 3 --lambda-ratio 0.5 -o end
holds "the end is said" "CV chose 0.5 of lambda_max, the smallest value that was tried, in" "$work/err"
run voxsift fit sim --target score --choose-lambda 3 --choose-rule 1se -o between
same "and only there" "$(grep -c 'CV chose .* of lambda_max in ' "$work/err")" 1
rm -rf ./*
nothing_left "fit"
