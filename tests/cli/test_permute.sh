# Permutations against Python, and the leak test.
run "$PYTHON" "$top/tests/evaluate/permute_agrees.py" "$top/examples"
same "permutations agree with Python" "$code$(cat "$work/out" "$work/err")" 0

refuses 66 "no cohort 'nowhere': make one with 'voxsift cohort'" voxsift permute nowhere --target score -o x
refuses 65 "has no column 'scor'; did you mean 'score'?" voxsift permute c --target scor -o x
refuses 65 "has no column 'sites'; did you mean 'site'?" voxsift permute c --target score --blocks sites -o x -q
refuses 73 "cannot write 'p': it exists" voxsift permute c --target score -o p
refuses 2 "lambda means something else in every fold" voxsift permute c --target score --lambda 1 -o x -q
[ -e x ] && fail "a refused run left its output" || pass
run voxsift permute c --target score --nlambda 4 --permutations 5 -o x
same "in words" "$code" 0
holds "p" "permutations of the complete nested CV: correlation r " "$work/out"
holds "the smallest p is said before" "the smallest possible p is 0.167" "$work/err"
works "a cohort whose null is on both sides of 0" voxsift simulate lasso --subjects 60 --features 50 -o both
run voxsift permute both --target score --nlambda 4 --permutations 19 -o both-p
works "the page" voxsift report both-p -o both.html
same "the edges of its bars are round" "$(grep -o '<title>[-0-9.e]* to [-0-9.e]*: ' both.html | head -n 3 | tr '\n' ' ')" \
    "<title>-0.3 to -0.2:  <title>-0.2 to -0.1:  <title>-0.1 to 0:  "
echo "my notes" > y.checkpoint
run voxsift permute c --target score --nlambda 4 --permutations 5 -o y
same "a run that does not start" "$code" 73
if grep -q "smallest possible p" "$work/err"; then fail "says nothing of p" "$(cat "$work/err")"; else pass; fi
rm -rf ./*
nothing_left "permute"

# a rare class and folds by site: permutations that leave a training part without it are drawn again
awk 'BEGIN { srand(4); OFS = "\t"; print "participant_id", "f1", "f2", "f3", "f4";
    for (i = 1; i <= 80; i++) print "s" i, rand(), rand(), rand(), rand(); }' > x.tsv
awk 'BEGIN { OFS = "\t"; print "participant_id", "site", "dx", "far";
    for (i = 1; i <= 80; i++) { s = i <= 20 ? "a" : i <= 34 ? "b" : i <= 42 ? "c" : "d"; t = i <= 74 ? "a" : i <= 76 ? "b" : i <= 78 ? "c" : "d";
        few = i == 1 || i == 2 || i == 21 || i == 35 || i == 43; far = i == 1 || i == 75 || i == 77 || i == 79;
        print "s" i, s, few ? "few" : "many", t (far ? "-few" : "-many"); } }' |
    awk -F '\t' -v OFS='\t' '{ split($4, far, "-"); print $1, $2, $3, NR == 1 ? "lone" : far[1], NR == 1 ? "far" : far[2]; }' > p.tsv
works "a rare class" voxsift cohort --feature-table x.tsv --participants p.tsv -q -o c
rare="c --target dx --folds-from site --nlambda 5 --permutations 30 --stop-at 0 -q"
works "permutations of it" voxsift permute $rare -o p
again=$(grep -o '"drawn_again": [0-9]*' p/permute.json)
if [ "${again#*: }" -gt 30 ]; then pass; else fail "they are drawn again" "$again"; fi
[ -e p.checkpoint ] && fail "a checkpoint is left" || pass
for k in 1 2; do works "chunk $k" voxsift permute $rare --chunk $k/2 -o part$k; done
works "merged" voxsift merge part1 part2 -q -o m
same "chunks draw the same" "$(cat m/null.tsv; grep -o '"drawn_again": [0-9]*' m/permute.json)" "$(cat p/null.tsv; echo "$again")"
stopped r voxsift permute $rare --permutations 300
run voxsift permute $rare --resume -o r
same "a run that goes on draws the same" "$(cat r/null.tsv; grep -o '"drawn_again": [0-9]*' r/permute.json)" "$(cat p/null.tsv; echo "$again")"
works "within sites none is" voxsift permute $rare --blocks site -o p --force
holds "none" '"drawn_again": 0,' p/permute.json
refuses 65 "too few permutations of 'far' can be trained on" voxsift permute c --target far --folds-from lone --nlambda 5 --inner-folds 3 -o q
refuses 65 "use --blocks to permute within a column" voxsift permute c --target far --folds-from lone --nlambda 5 -o q -q
works "of which within sites there are enough" voxsift permute c --target far --folds-from lone --blocks lone --nlambda 5 --permutations 5 -q -o q
refuses 2 "'calibration_slope' is best at 1" voxsift permute c --target dx --metric calibration_slope -o z -q
rm -rf ./*
nothing_left "rare classes"
