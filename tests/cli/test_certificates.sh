# Certificates hold or are not given.
run "$PYTHON" "$top/tests/model/certificates_hold.py"
same "certificates hold or are not given" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
run "$PYTHON" "$top/tests/model/edits_are_seen.py"
same "edits of models are seen" "$code$(cat "$work/out" "$work/err")" 0
rm -rf ./*
nothing_left "edits"
