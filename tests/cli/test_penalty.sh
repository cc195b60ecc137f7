# Penalties of terms, by bound propagation: what paths say of screening, what models keep, mistakes.
voxsift simulate lasso --out f --subjects 30 --features 40 --seed 3 > /dev/null
bp() { run voxsift path f --target score --method fused --solver bound-propagation --graph chain --nlambda 4 --json "$@"; }
bp --compare
same "a path by bound propagation" "$code" 0
holds "what was screened" '"rejected_before"' "$work/out"
holds "what that saved" '"primal_difference"' "$work/out"
bp --screen none
same "without screening, but for lambda_max" "$code$(grep -c '"rejected": 0,' "$work/out")" 03
bp --untransformed
same "without sums of columns" "$code" 0
bp --penalty trend --tol 1e-9
same "second differences" "$code" 0

terms() { printf '%s\n' "term	feature	value" "$@" > terms.tsv; }
penalty() { # CODE PART
    refuses "$1" "$2" voxsift fit f --target score --method fused --graph chain -o x --penalty "$3"
}
{ echo "term	feature	value"; for k in $(seq 0 39); do printf '%s\tx%s\t0.5\n' "$k" "$k"; done
  printf 'more\tx3\t1\nmore\tx30\t-2\n'; } > terms.tsv
works "a model" voxsift fit f --target score --method fused --graph chain -o m --penalty matrix:terms.tsv --lambda-ratio 0.2
same "the model keeps its terms" "$(wc -l < m/penalty.tsv)" 43
same "the model keeps its multipliers" "$("$PYTHON" -c 'import numpy; print(numpy.load("m/multipliers.npy").shape)')" "(1, 71)"
rm -rf b && cp -r m b && rm b/penalty.tsv
refuses 66 "cannot read 'b/penalty.tsv'" voxsift check-model b f
rm -rf b && cp -r m b && rm b/multipliers.npy
refuses 66 "cannot read 'b/multipliers.npy'" voxsift check-model b f
rm -rf b && cp -r m b && printf 'term\tfeature\tvalue\n1\tx0\t1\n' > b/penalty.tsv
refuses 65 "does not have a row an output, of 30 subjects and 1 terms" voxsift check-model b f
penalty 2 "'--penalty nonsense' is not known" nonsense
penalty 66 "cannot read 'none.tsv'" matrix:none.tsv
terms
penalty 65 "'terms.tsv' has no terms" matrix:terms.tsv
terms "a	x0	1" "a	x99	1"
penalty 65 "'terms.tsv' line 3: the cohort has no feature 'x99'" matrix:terms.tsv
terms "a	x0	0"
penalty 65 "'terms.tsv' line 2: a factor must be a number other than 0" matrix:terms.tsv
terms "a	x0	much"
penalty 65 "line 2, column 'value': 'much' is not a number" matrix:terms.tsv
terms "n/a	x0	1"
penalty 65 "'terms.tsv' line 2: the term has no name" matrix:terms.tsv
terms "a	x0	1" "b	x1	1" "a	x0	2"
penalty 65 "'terms.tsv' line 4: term 'a' has that feature already" matrix:terms.tsv
terms "a	x0	1"
penalty 65 "are not penalized, which 30 subjects do not identify" matrix:terms.tsv
printf 'term\tname\tvalue\na\tx0\t1\n' > terms.tsv
penalty 65 "'terms.tsv' has no column 'feature'" matrix:terms.tsv
[ -e x ] && fail "a refused fit left its output" || pass
rm -rf ./*
nothing_left "penalty"
