# Reports: pages read by Python and by a browser.
run "$PYTHON" "$top/tests/report/page_agrees.py"
same "pages are whole" "$code$(cat "$work/out" "$work/err")" 0
refuses 2 "DIR is missing" voxsift report -o x.html
refuses 2 "option '--out FILE' is missing" voxsift report las-cv
refuses 66 "'nowhere' is neither a model nor a cross-validation" voxsift report nowhere -o x.html
refuses 73 "cannot write 't.html': it exists; pass --force to replace it" voxsift report t-cv -o t.html
rm -rf ./*
nothing_left "report"
