# Covariates: a slip in numbers, too little spread, columns that are the same but for rounding; few groups.
awk 'BEGIN { srand(3); print "participant_id\ta\tb\tc" > "f.tsv"
    print "participant_id\ty\tz\tfar\tslip\tthree\tsite\tlike\tcode\tg=h" > "t.tsv"
    for (i = 1; i <= 60; i++) { z = rand(); a = z + rand() / 4
        printf "s%d\t%.6f\t%.6f\t%.6f\n", i, a, rand(), rand() > "f.tsv"
        printf "s%d\t%.6f\t%.6f\t%.6f\t%s\t3\t%s\t%.6f\t%s\t%s\n", i, a - z, z, 1e6 + z, i == 7 ? "4,2" : z,
            substr("ABCD", i % 4 + 1, 1), 2010 + z / 3 * 7, i == 9 ? "2B" : i % 5, i % 3 ? "x" : "y" > "t.tsv" } }'
run voxsift cohort --feature-table f.tsv --participants t.tsv -q -o c
same "a cohort" "$code" 0
holds "whose codes may be persons, which -q does not hide" "pass --person code to 'voxsift cohort' if they are one" "$work/err"
works "who say that they are not" voxsift cohort --feature-table f.tsv --participants t.tsv --person participant_id -q -o c --force
set -- --target y --folds 10 --nlambda 5 -q -o x --force
refuses 65 "column 'slip' holds numbers, but '4,2' in line 8; as text it has 60 levels, for 60 subjects" \
    voxsift cv c "$@" --confounds slip
run voxsift cv c --target y --nlambda 5 --confounds code -o x --force
same "codes" "$code" 0
holds "are taken for text, and that is said" "column 'code' holds numbers, but '2B' in line 10; it is taken for text with 6 levels" \
    "$work/err"
for way in covariate regress; do
    refuses 65 "column 'far' varies by" voxsift cv c "$@" --confounds far --confounds-as $way
    works "a constant explains nothing, $way" voxsift cv c "$@" --confounds three --confounds-as $way
done
works "the same but for rounding" voxsift cv c "$@" --confounds z,like --confounds-as regress
works "the same twice" voxsift cv c "$@" --confounds z,z --confounds-as regress
works "a header with =" voxsift fit c --target y --confounds g=h -q -o m
run voxsift predict m c
same "is found by predict" "$code" 0
run voxsift cv c --target y --folds-from site --inner-folds 3 --nlambda 5 -o x --force
same "four sites" "$code" 0
holds "few groups" "the 95 % intervals are of draws of 4 folds, and with fewer than 10 they are too narrow" "$work/err"
holds "in cv.json" '"few_groups": true' x/cv.json
works "a page" voxsift report x -q -o x.html
holds "has them" "because the bootstrap draws from only 4 groups of subjects" x.html
# A covariate without a penalty that tells a class from the others has no best coefficient: it is named.
awk 'BEGIN { srand(4); print "participant_id\tdx\tkind\tsite\tlesion\tage" > "lone.tsv"
    for (i = 1; i <= 60; i++) { ill = i % 3 == 0 || i % 4 == 0
        printf "s%d\t%s\t%s\t%s\t%d\t%.4f\n", i, ill ? "ill" : "well", substr("pqr", int(rand() * 3) + 1, 1),
            substr("ABCD", i % 4 + 1, 1), ill ? 5 + rand() * 9 : 5 * rand(), 50 + 9 * rand() > "lone.tsv" } }'
run voxsift cohort --feature-table f.tsv --participants lone.tsv --person participant_id -q -o lone
same "a cohort whose site A is ill" "$code" 0
for how in "lasso --lambda-ratio 0.3" "lasso --loss squared-hinge --lambda-ratio 0.3" "fused --graph chain --lambda-ratio 0.3" "fgm --per-iteration 1" \
    "fgm --loss logistic --per-iteration 1" "mslr --per-iteration 1"; do
    run voxsift fit lone --target dx --confounds site --method $how --force -q -o m
    holds "$how: the level that lacks a class" "no subject with 'site=A' has 'well' in 'dx': its coefficient has no bound" "$work/err"
    holds "$how: in the model" "no subject with 'site=A' has 'well' in 'dx'" m/model.json
done
run voxsift cv lone --target dx --confounds lesion --folds 3 --inner-folds 0 --lambda-ratio 0.3 -q -o x --force
holds "a number that separates classes" "covariate 'lesion' separates 'ill' in 'dx' from the others: its coefficient has no bound and decides by itself; leave the covariate out of --confounds" "$work/err"
holds "in cv.json" "covariate 'lesion' separates 'ill'" x/cv.json
for how in "dx --confounds site --confounds-as regress" "dx --confounds age" "kind --confounds site,age" "age --confounds site" \
    "dx --confounds age --no-intercept --standardize none"; do
    run voxsift fit lone --target $how --lambda-ratio 0.3 --force -q -o m
    if grep -q "has no bound" "$work/err"; then fail "$how has a best coefficient" "$(cat "$work/err")"; else pass; fi
done
rm -rf ./*
nothing_left "covariates"

# Whole weights of subjects, against rows that are repeated.
run "$PYTHON" "$top/tests/model/weights_agree.py"
same "weights agree with repeated rows" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
nothing_left "weights"
