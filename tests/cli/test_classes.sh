# Classes as other tables write them: numbers are numbers, and what the model does not have is said.
awk 'BEGIN {
    srand(3); print "participant_id\ta\tb" > "f.tsv"; head = "participant_id\tk\ttext"
    print head > "t.tsv"; print head > "real.tsv"; print head > "codes.tsv"; print head > "mixed.tsv"
    for (i = 1; i <= 40; i++) {
        k = i % 2; print "s" i "\t" k + rand() "\t" rand() > "f.tsv"
        print "s" i "\t" k "\t" (k ? "pat" : "ctl") > "t.tsv"
        print "s" i "\t" k ".0\t" (k ? "pat" : "ctl") > "real.tsv"
        print "s" i "\t" k + 1 "\t" (k ? "PAT" : "ctl") > "codes.tsv"
        print "s" i "\t" k (i % 3 ? "" : ".0") "\t" (k ? "pat" : "ctl") > "mixed.tsv" } }'
for name in t real codes mixed; do
    voxsift cohort --feature-table f.tsv --participants $name.tsv -o c_$name -q > /dev/null
done
voxsift fit c_t --target k -o m -q > /dev/null
voxsift fit c_t --target text -o mt -q > /dev/null
run voxsift fit c_mixed --target k -o mm -q
same "1 and 1.0 are one class" "$(grep '"classes"' mm/model.json)" '  "classes": ["0", "1"],'
same "of the same model" "$(cat mm/weights.tsv)" "$(cat m/weights.tsv)"
scores() { grep "against '" "$work/err"; }
run voxsift predict m c_t --training-too
wanted=$(scores)
for name in real mixed; do
    run voxsift predict m c_$name --training-too
    same "scores of $name" "$(scores)" "$wanted"
done
run voxsift predict m c_codes --training-too
holds "codes that the model has not" "20 of 40 subjects have classes that the model does not have: 's1' is '2', and others; its classes are '0', '1'. Metrics exclude them" "$work/err"
run voxsift predict m c_codes --training-too --json
holds "and in JSON" '"of_other_classes": 20' "$work/out"
run voxsift predict mt c_codes --training-too
holds "a name in capitals" "20 of 40 subjects have classes that the model does not have: 's1' is 'PAT', and others; its classes are 'ctl', 'pat'" "$work/err"
rm -rf ./*
nothing_left "classes"
# Names of classes of any length: more than two have columns of their own.
awk 'BEGIN { srand(8); print "participant_id\tdx" > "lp.tsv"; print "participant_id\tx1\tx2" > "lf.tsv"; for (i = 1; i <= 400; i++) long = long "n"
    for (i = 1; i <= 45; i++) { printf "k%dz\t%s\n", i, substr("abc", i % 3 + 1, 1) long > "lp.tsv"; printf "k%dz\t%.4f\t%.4f\n", i, i % 3 + rand(), rand() - i % 3 > "lf.tsv" } }'
works "a cohort of long names" voxsift cohort --feature-table lf.tsv --participants lp.tsv -q -o long
run voxsift cv long --target dx --folds 3 --inner-folds 0 --lambda-ratio 0.3 -q -o long-cv
run voxsift stability long --target dx --pairs 2 -q -o long-s
works "classes of 401 bytes on the page of cv" voxsift report long-cv -q -o long-cv.html
works "and of stability" voxsift report long-s -q -o long-s.html
run voxsift cv long --target dx --folds 3 --inner-folds 0 --lambda-ratio 0.1 -q -o long-other
run voxsift compare long-cv long-other -q -o long-compared
same "and compared" "$code" 0
rm -rf long* lp.tsv lf.tsv
