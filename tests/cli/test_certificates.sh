# Certificates hold or are not given.
run "$PYTHON" "$top/tests/model/certificates_hold.py"
same "certificates hold or are not given" "$code$(cat "$work/out" "$work/err")" 0
