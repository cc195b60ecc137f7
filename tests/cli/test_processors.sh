# Other types of processor round differently: what is selected is the same, and certificates hold.
run "$PYTHON" "$top/tests/evaluate/processors_agree.py"
if [ "$code" -eq 77 ]; then
    skip "processors: $(cat "$work/out")"
else
    same "kernels of several processors agree" "$code$(cat "$work/out" "$work/err")" 0
fi
run voxsift version
holds "version names the type" "processor " "$work/out"
# Our own kernels give the same bits with any vectors; the linear algebra library's are another matter.
widest=$(voxsift version | sed -n 's/^vectors *//p')
vectors='^(lesion|t1w|lasso|lasso-logistic|graphnet|fused-grid|skfs|skfs-median|fgm|fgm-pairs|fgm-gauss|mslr|svm|svm-rbf|predict-lasso|cv-classes|stability)$'
for narrow in plain avx2; do
    [ "$narrow" = "$widest" ] && continue
    [ "$widest" = plain ] && continue
    run env -C "$top" SAME_BITS=1 SAME_BEFORE=VOXSIFT_VECTORS=$narrow "$PYTHON" tests/same/same.py "$BUILD/voxsift" "$BUILD/voxsift" "$PWD/same" "$vectors"
    same "the same bits with $narrow vectors as with $widest ones" "$code$(grep DIFFERENT "$work/out")" 0
    same "version names them" "$(VOXSIFT_VECTORS=$narrow voxsift version | sed -n 's/^vectors *//p')" "$narrow"
    rm -rf same
done
[ "$widest" = plain ] && skip "processors: this one has no vectors to compare"
refuses 2 "VOXSIFT_VECTORS is 'plain', 'avx2' or 'avx512', not 'mmx'" env VOXSIFT_VECTORS=mmx voxsift version
rm -rf ./*
nothing_left "processors"
