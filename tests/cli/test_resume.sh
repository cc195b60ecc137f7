# What is stopped goes on: cross-validations, halves, permutations.
run "$PYTHON" "$top/tests/evaluate/resume_agrees.py"
same "runs go on" "$code$(cat "$work/out" "$work/err")" 0
# where the file cannot be written, the run says so
mkdir locked && chmod 555 locked
[ -w locked ] || refuses 73 "cannot write 'locked/r.checkpoint'" voxsift permute c --target score --nlambda 4 --permutations 5 -o locked/r -q
chmod 755 locked
rm -rf ./*
nothing_left "resume"
