# What an option silently leaves out would be a wrong answer: covariates that the regression's subjects do not
# identify, probabilities that nothing calibrates, infinite values of a map.
"$PYTHON" - << 'EOP'
import nibabel as nib
import numpy as np
rng = np.random.default_rng(7)
n = 60
site = np.repeat(["A", "B", "C"], n // 3)
arm = np.where((site == "C") | (np.arange(n) % 2 == 0), "patient", "control")
age = rng.normal(60, 8, n)
y = rng.normal(size=n) + 4 * (site == "C")
x = rng.normal(size=(n, 20)) + 3 * (site == "C")[:, None]
np.save("x.npy", x.astype("f4"))
with open("who.tsv", "w") as f:
    f.write("participant_id\tsite\tarm\tage\ty\tdx\n")
    for i in range(n):
        f.write(f"s{i:03}\t{site[i]}\t{arm[i]}\t{age[i]!r}\t{y[i]!r}\t{'pqr'[i % 3]}\n")
z = np.zeros((8, 8, 8), "f4")
z[2:5, 2:5, 2:5] = 6
z[3, 3, 3] = np.inf
nib.save(nib.Nifti1Image(z, np.eye(4)), "z.nii.gz")
z[3, 3, 3] = np.nan
nib.save(nib.Nifti1Image(z, np.eye(4)), "nan.nii.gz")
EOP
run voxsift cohort --npy x.npy --rows who.tsv --person participant_id -q -o c
same "a cohort" "$code" 0
how="--target y --confounds age,site --confounds-as regress"
for command in "cv --bootstraps 100 --nlambda 5" fit "permute --permutations 3 --nlambda 5" "stability --pairs 2"; do
    refuses 65 "do not identify the effect of 'site=C'" voxsift $command c $how --regress-on arm=control -q -o x
done
run voxsift fit c $how --regress-on arm=patient -q -o m
same "patients are at all sites" "$code" 0
run voxsift fit c $how --exclude site=C --regress-on arm=control -q -o m --force
same "without that site" "$code" 0

run voxsift cv c --target dx --method mslr --per-iteration 2 --iterations 2 --folds 2 --inner-folds 0 --bootstraps 100 -o v
holds "scores that are not calibrated are named" "are not calibrated" "$work/err"
holds "and in the results" "are not calibrated" v/cv.json
run voxsift cv c --target dx --folds 2 --inner-folds 0 --bootstraps 100 -o v --force
if grep -q "not calibrated" "$work/err"; then fail "the lasso's are log odds" "$(cat "$work/err")"; else pass; fi

refuses 65 "has 1 infinite value, whose clusters have no peak" voxsift regions z.nii.gz --threshold 3
run voxsift regions nan.nii.gz --threshold 3
same "NaN is background" "$code" 0

# 30 sites, each held out once; 20 inner folds are enough
"$PYTHON" -c "
lines = open('who.tsv').read().splitlines()
with open('many.tsv', 'w') as f:
    f.write(lines[0] + '\tmany\n')
    for i, line in enumerate(lines[1:]):
        f.write(line + f'\tm{i % 30}\n')"
run voxsift cohort --npy x.npy --rows many.tsv --person participant_id -q -o many
run voxsift cv many --target y --group many --folds group --nlambda 3 --bootstraps 100 -o g
same "30 groups" "$code" 0
holds "with 20 inner folds" "20 inner folds: several of many held out in each" "$work/err"
# A site whose subjects all have weight 0: its level has no coefficient, in every command, and predict says so.
"$PYTHON" -c "
lines = open('who.tsv').read().splitlines()
with open('light.tsv', 'w') as f:
    f.write(lines[0] + '\tw\tv\tflag\n')
    for line in lines[1:]:
        site = line.split('\t')[1]
        f.write(f'{line}\t{int(site != \"B\")}\t{int(site != \"A\")}\t{int(site == \"B\")}\n')"
run voxsift cohort --npy x.npy --rows light.tsv --person participant_id -q -o light
for command in "cv --bootstraps 100 --nlambda 3" fit "permute --permutations 2 --nlambda 3" "stability --pairs 2"; do
    run voxsift $command light --target y --confounds age,site --subject-weights w -q -o z --force
    same "$command" "$code" 0
    holds "$command names the level" "all 20 subjects with 'B' in 'site' have weight 0 in 'w'" "$work/err"
done
run voxsift cv light --target y --confounds age,site --subject-weights w --bootstraps 100 --nlambda 3 -q -o zc
holds "and so does cv.json" '"level": "B"' zc/cv.json
for weights in w v; do # a level, and the reference level
    run voxsift fit light --target y --confounds age,site --subject-weights $weights -q -o zm-$weights
    run voxsift check-model zm-$weights light -q
    same "its certificate" "$code" 0
    run voxsift predict zm-$weights light --training-too
    holds "predict names the level" "no training subject has '$(test $weights = w && echo B || echo A)' in 'site'" "$work/err"
done
run voxsift fit light --target y --confounds age,flag --subject-weights w -q -o zf
holds "a number that only these subjects have" "covariate 'flag' differs from a combination" "$work/err"
rm -rf ./*
nothing_left "identified"
