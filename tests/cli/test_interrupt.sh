# A run that is told to stop leaves nothing under the final name, nothing beside it, and says so.
for signal in INT TERM HUP; do
    # a job of bash ignores SIGINT when it runs in the background, so Python starts it
    "$PYTHON" - "$signal" > "$work/out" << 'EOF'
import os
import signal
import subprocess
import sys
import time
p = subprocess.Popen(["voxsift", "simulate", "lasso", "--features", "3000000", "-o", "big"],
                     stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
for _ in range(1000):
    if any(name.startswith(".big.part") for name in os.listdir(".")):
        break
    time.sleep(0.01)
time.sleep(0.2)
p.send_signal(getattr(signal, "SIG" + sys.argv[1]))
out, err = p.communicate(timeout=30)
last = err.decode().strip().split("\n")[-1]
print(p.returncode, len(out), last.endswith("interrupted while simulating") or last.endswith("interrupted"))
EOF
    same "SIG$signal" "$(cat "$work/out")" "130 0 True"
    nothing_left "SIG$signal leaves nothing"
done
# work without progress of its own stops as well
voxsift simulate lasso --subjects 20000 --features 5000 -o long > "$work/out" 2>&1
yes "1 $(seq -s ':1 ' 400):1" | head -n 10000 > long/text.svm
for words in "info long/features.npy" "cohort --svmlight long/text.svm -o big" "simulate lasso --subjects 2 --features 5000000 --nonzero 1 -o big"; do
    run timeout --foreground -s INT 0.1 voxsift $words
    same "$words: stopped soon" "$code $(cat "$work/out")" "124 "
    holds "$words: says so" "interrupted" "$work/err"
done
rm -r long
nothing_left "no progress, nothing left"
# without --foreground, timeout sends the signal twice in a row: one request, all the same
run timeout -s INT 0.3 voxsift simulate lasso --features 3000000 -o twice
nothing_left "asked twice at once"
# who asks again later is obeyed at once, whatever the work is
"$PYTHON" - > "$work/out" 2>&1 << 'EOF'
import signal, subprocess, time
p = subprocess.Popen(["voxsift", "info", "/dev/stdin"], stdin=subprocess.PIPE,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
p.stdin.write(b"a\tb\n" * 3000000)  # a table that takes long to look at
p.stdin.close()
time.sleep(0.05)
p.send_signal(signal.SIGINT)
time.sleep(0.7)
p.send_signal(signal.SIGINT)
print(p.wait() in (-2, 130))
EOF
same "asked twice" "$(cat "$work/out")" True
# long fits of every method hear it within two seconds, and a second request ends them at once
"$PYTHON" "$top/tests/cli/stop_fits.py" > "$work/out" 2>&1
same "long fits stop" "$(cat "$work/out")" ""
rm -rf tall classes
# what the caller ignores stays ignored, as nohup expects it
run bash -c 'trap "" HUP; voxsift simulate lasso --subjects 2000 --features 20000 -q -o calm & p=$!
    sleep 0.2; kill -HUP $p; wait $p'
same "an ignored signal changes nothing" "$code" 0
rm -r calm
# told to stop while an older output is being replaced: the older one stays
voxsift simulate lasso --features 10 -o keep > "$work/out"
cp -R keep before
run timeout --foreground -s INT 0.5 voxsift simulate lasso --features 3000000 -o keep --force
run diff -r keep before
same "the old output is untouched" "$code" 0
rm -r keep before
nothing_left "interrupt"
