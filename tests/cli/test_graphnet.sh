# graphnet: every command on a small simulation of images; what does not go with it.
run voxsift simulate spheres --shape 20,20,16 --radius 2 --subjects 60 -q -o c
same "a cohort of voxels" "$code" 0
run voxsift fit c --target score --method graphnet --lambda-ratio 0.3 --json -o m
same "graphnet is fitted" "$code" 0
holds "by its name" '"method": "graphnet"' "$work/out"
run voxsift check-model m c
same "and confirmed" "$code" 0
run voxsift predict m c --training-too
same "predicts" "$code" 0
run voxsift path c --target score --method graphnet --nlambda 5 --laplacian 3 -q
same "a path" "$code" 0
run voxsift cv c --target score --method graphnet --folds 3 --inner-folds 2 --nlambda 4 -o cv -q
same "cross-validation" "$code" 0
run voxsift stability c --target score --method graphnet --pairs 2 -q -o s
same "stability" "$code" 0
run voxsift report m -o m.html
same "a page" "$code" 0
holds "its name for a paper" "a graph-net with squared loss" m.html
holds "and its paper" "prediction analysis with GraphNet" m.html
holds "what it was told" "<tr><th>Laplacian</th><td>1</td></tr>" m.html
run voxsift fit c --target score --method graphnet --laplacian 0 --lambda-ratio 0.3 -o zero -q
run voxsift fit c --target score --method lasso --lambda-ratio 0.3 -o lasso -q
same "without its weight it is the lasso" "$(cut -f 1,2 zero/weights.tsv)" "$(cut -f 1,2 lasso/weights.tsv)"
refuses 2 "method 'graphnet' has no use for '--penalties'" voxsift fit c --target score --method graphnet --penalties x.tsv -o x
refuses 2 "method 'graphnet' has no '--graph tree'" voxsift fit c --target score --method graphnet --graph tree -o x
refuses 2 "method 'graphnet' has no option '--ridge'" voxsift fit c --target score --method graphnet --ridge 1 -o x
refuses 2 "method 'lasso' has no option '--laplacian'" voxsift fit c --target score --laplacian 1 -o x
