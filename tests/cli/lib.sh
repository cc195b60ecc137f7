# lib.sh - words for tests of the command line. Each test file is sourced by run.sh in a directory
# of its own, with voxsift on the PATH and $top the top of the tree.

passed=0
failed=0

pass() { passed=$((passed + 1)); }

fail() { # what, details...
    failed=$((failed + 1))
    echo "FAIL $(basename "$current"): $1" >&2
    shift
    for line in "$@"; do printf '     %s\n' "$line" >&2; done
}

# skip WHAT: what this machine cannot test; the last lines of the whole run name it
skip() { echo "$(basename "$current"): $1" >> "$BUILD/skipped"; }

# run COMMAND...: keeps exit code, standard output and standard error in $code, out and err
run() {
    code=0
    "$@" > "$work/out" 2> "$work/err" < /dev/null || code=$?
}

# works WHAT COMMAND...: exit 0 and nothing on standard error
works() {
    local what=$1
    shift
    run "$@"
    if [ "$code" -eq 0 ] && [ ! -s "$work/err" ]; then
        pass
    else
        fail "$what" "exit $code" "$(cat "$work/err")"
    fi
}

# refuses CODE PART COMMAND...: this exit code, nothing on standard output, and on standard error one
# line that holds PART
refuses() {
    local wanted=$1 part=$2
    shift 2
    run "$@"
    if [ "$code" -ne "$wanted" ]; then
        fail "$*" "exit $code, not $wanted" "$(cat "$work/err")"
    elif [ -s "$work/out" ]; then
        fail "$*" "it printed: $(head -n 1 "$work/out")"
    elif [ "$(wc -l < "$work/err")" -ne 1 ]; then
        fail "$*" "not one line:" "$(cat "$work/err")"
    elif ! grep -qF -- "$part" "$work/err"; then
        fail "$*" "said:   $(cat "$work/err")" "wanted: $part"
    else
        pass
    fi
}

# stopped OUT COMMAND...: COMMAND -o OUT, interrupted when its checkpoint has a record; what it made where it
# was faster is taken away
stopped() {
    local out=$1 _
    shift
    "$@" -o "$out" > /dev/null 2>&1 &
    for _ in $(seq 400); do
        [ "$(stat -c %s "$out.checkpoint" 2> /dev/null || echo 0)" -gt 300 ] && break # more than its header and what it says of features
        sleep 0.01
    done
    kill -TERM $! 2> /dev/null # a shell without a terminal starts jobs that ignore INT
    wait $! 2> /dev/null
    rm -rf "$out"
}

# same WHAT A B: two texts are equal
same() {
    if [ "$2" = "$3" ]; then pass; else fail "$1" "got:    $2" "wanted: $3"; fi
}

# holds WHAT PART FILE
holds() {
    if grep -qF -- "$2" "$3"; then pass; else fail "$1" "'$2' is not in:" "$(cat "$3")"; fi
}

# nothing_left WHAT: the directory of the test is empty, hidden names included
nothing_left() {
    local left
    left=$(ls -A)
    if [ -z "$left" ]; then pass; else fail "$1" "left behind: $left"; rm -rf ./* ./.[!.]*; fi
}
