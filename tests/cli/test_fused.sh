# The fused lasso on trees against numpy; then its mistakes.
run "$PYTHON" "$top/tests/assess/fused_agrees.py"
same "the fused lasso agrees with numpy" "$code$(cat "$work/out" "$work/err")" 0

# what fused_agrees.py made: cohorts c (voxels) and f (columns), models m and fm
fused() { # CODE PART OPTIONS...
    refuses "$1" "$2" voxsift fit f --target score --method fused -o x "${@:3}"
}
fused 2 "method 'fused' has no option '--ridge'" --ridge 1
fused 2 "method 'fused' has no option '--nonnegative'" --nonnegative
fused 2 "'--standardize unit' does not go with method 'fused'" --standardize unit
printf 'feature\tpenalty\nroi 1\t2\n' > penalties.tsv
fused 2 "instead of '--penalties' give the edges of '--graph' a column weight" --penalties penalties.tsv
refuses 2 "method 'lasso' has no use for '--graph'" voxsift fit f --target score --graph chain -o x
fused 66 "cannot read 'tre'" --graph tre
edges() { printf '%s\n' "from	to	weight" "$@" > edges.tsv; }
edges "roi 1	roi 2	1" "roi 2	roi 99	1"
fused 65 "'edges.tsv' line 3: the cohort has no feature 'roi 99'" --graph edges.tsv
edges "roi 1	roi 2	1" "roi 2	n/a	1"
fused 65 "'edges.tsv' line 3: the cohort has no feature ''" --graph edges.tsv
edges "roi 1	roi 2	0"
fused 65 "'edges.tsv' line 2: the weight of an edge must be above 0" --graph edges.tsv
edges "roi 1	roi 2	much"
fused 65 "line 2, column 'weight': 'much' is not a number" --graph edges.tsv
edges "roi 2	roi 3	1" "roi 1	roi 1	1"
fused 65 "'edges.tsv' line 3: the edge leads from 'roi 1' to itself" --graph edges.tsv
fused 2 "'--graph grid18' is of voxels; the features are not" --graph grid18
fused 2 "'--graph regions' is of regions; the features are not" --graph regions
fused 2 "'--graph correlation:E' wants a number above 0, the edges for each feature, not 'many'" --graph correlation:many
fused 2 "'--graph precision:E' wants a number above 0, the edges for each feature, not '0'" --graph precision:0
fused 2 "'--graph precision:E' wants a number above 0, the edges for each feature, not ''" --graph precision:
fused 2 "'--graph correlation:12.1': 25 features have 300 pairs in all" --graph correlation:12.1
refuses 2 "'--graph precision' is of regions or columns; the features are voxels, which have neighbours in space" \
    voxsift fit c --target score --method fused --graph precision -o x
refuses 2 "method 'skfs' has no '--graph correlation'" voxsift fit f --target dx --method skfs --graph correlation:2 -o x
fused 2 "option '--sparsity' wants a number between 0 and 1000000, not '-1'" --sparsity -1
printf 'from\ttwo\nroi 1\troi 2\n' > edges.tsv
fused 65 "'edges.tsv' has no column 'to'" --graph edges.tsv
edges
fused 65 "the graph has no edges" --graph edges.tsv
edges "roi 1	roi 2	1"
refuses 65 "the graph is in 24 pieces; each has a level that is not penalised, which 20 subjects cannot tell apart" \
    voxsift fit small --target score --method fused -o x --graph edges.tsv
[ -e x ] && fail "a refused fit left its output" || pass
rm -rf b && cp -r m b && rm b/graph.tsv
refuses 66 "cannot read 'b/graph.tsv'" voxsift check-model b c
run voxsift predict b c
same "prediction needs no graph" "$code" 0
sed 's/\t1$/\t0.5/' m/graph.tsv > b/graph.tsv
run voxsift check-model b c
same "another graph is another problem" "$code" 3
works "info on a model" voxsift info m
holds "its pieces" "pieces of equal weight" "$work/out"
works "methods" voxsift methods --json
holds "need graphs" '"needs_graph": true' "$work/out"
rm -rf ./*
nothing_left "fused"
