# Permutations against Python, and the leak test.
run "$PYTHON" "$top/tests/evaluate/permute_agrees.py" "$top/examples"
same "permutations agree with Python" "$code$(cat "$work/out" "$work/err")" 0

refuses 66 "cannot read 'nowhere/cohort.json'" voxsift permute nowhere --target score -o x
refuses 65 "has no column 'scor'; did you mean 'score'?" voxsift permute c --target scor -o x
refuses 65 "has no column 'sites'; did you mean 'site'?" voxsift permute c --target score --blocks sites -o x -q
refuses 73 "cannot write 'p': it exists" voxsift permute c --target score -o p
refuses 2 "lambda means something else in every fold" voxsift permute c --target score --lambda 1 -o x -q
[ -e x ] && fail "a refused run left its output" || pass
run voxsift permute c --target score --nlambda 4 --permutations 5 -o x
same "in words" "$code" 0
holds "p" "permutations were as good: p =" "$work/out"
holds "the smallest p is said before" "the smallest p that can come out is 0.167" "$work/err"
rm -rf ./*
nothing_left "permute"
