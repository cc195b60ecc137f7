# examples/slurm on a slurmctld and slurmd that this test starts, on loopback alone and with all their
# files in a scratch directory, and stops; skipped, and said at the end of the run, where there are none.
slurm_missing() {
    local tool
    for tool in munged mungekey slurmctld slurmd sbatch scontrol sinfo; do
        command -v $tool > /dev/null || { echo "$tool is not installed (slurm-wlm, munge)"; return; }
    done
    [ "$(id -u)" -eq 0 ] || echo "only root can start its daemons"
}
slurm_start() { # into $dir; answers when a node is idle
    local host ports
    host=$(hostname -s)
    ports=$("$PYTHON" -c 'import socket
s = [socket.socket() for _ in "12"]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
    mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
    chmod 755 "$work" "$dir"
    chmod 700 "$dir/munge"
    mungekey --create --keyfile "$dir/munge/key" > "$dir/log" 2>&1 || return 1
    munged --foreground --force --key-file "$dir/munge/key" --socket "$dir/munge.socket" --pid-file "$dir/munge/pid" \
        --log-file "$dir/munge/log" --seed-file "$dir/munge/seed" --num-threads 2 >> "$dir/log" 2>&1 &
    daemons="$!"
    cat > "$dir/slurm.conf" << EOC
ClusterName=scratch
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=1,bf_interval=1
SlurmdParameters=config_overrides
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=scratch Nodes=ALL Default=YES State=UP
EOC
    export SLURM_CONF="$dir/slurm.conf"
    slurmctld -D -c -f "$SLURM_CONF" >> "$dir/log" 2>&1 &
    daemons="$! $daemons"
    slurmd -D -f "$SLURM_CONF" >> "$dir/log" 2>&1 &
    daemons="$! $daemons"
    for _ in $(seq 100); do
        sinfo -h -o %t 2> /dev/null | grep -q '^idle' && return 0
        sleep 0.2
    done
    return 1
}

slurm_stop() { # politely, and after five seconds not
    local pid _
    for pid in $daemons; do kill "$pid" 2> /dev/null; done
    for _ in $(seq 50); do
        kill -0 $daemons 2> /dev/null || break
        sleep 0.1
    done
    for pid in $daemons; do kill -9 "$pid" 2> /dev/null; done
    for pid in $daemons; do wait "$pid" 2> /dev/null; done
    daemons=""
}
# submitted WHAT COMMAND...: sbatch or a script that calls it; waits until no job is left
submitted() {
    local _
    works "$@"
    for _ in $(seq 300); do
        [ -z "$(squeue -h 2> /dev/null)" ] && break
        sleep 0.2
    done
    same "$1: all jobs ended" "$(squeue -h 2>&1)" ""
}
about() { grep -v -e '"command"' -e '"seconds"' "$1/permute.json" 2>&1; }

daemons="" dir="$work/slurm"
before=$(trap -p EXIT)
trap 'slurm_stop; rm -rf "$work"' EXIT
reason=$(slurm_missing)
if [ -n "$reason" ]; then
    skip "Slurm: examples/slurm ran in no job array: $reason"
elif ! slurm_start; then
    skip "Slurm: no node became idle: $(grep -h -i -m 1 -E 'error|fatal' "$dir"/ctld.log "$dir"/slurmd.log "$dir"/log 2> /dev/null | head -n 1)"
else
    voxsift simulate lasso --subjects 40 --features 200 -o learn -q > "$work/out"
    sed -i '1s/score/age_at_stroke/' learn/participants.tsv
    cp -r "$top/examples/slurm" slurm
    same "the daemons listen on loopback alone" \
        "$(ss -Hltnp | awk -v d="$daemons" 'BEGIN { split(d, p) } { for (i in p) if (index($0, "pid=" p[i] ",")) print $4 }' | grep -v '^127\.')" ""
    submitted "examples/slurm" sh slurm/submit.sh
    run voxsift permute learn --target age_at_stroke --nlambda 10 --permutations 40 -o whole -q
    same "the array's permutations are those of one run" "$(cat age-p/null.tsv 2>&1)" "$(cat whole/null.tsv)"
    same "and so is p" "$(about age-p)" "$(about whole)"
    holds "each task said which chunk" "permutations 5 to 8 of 40, chunk 2 of 10" chunk-2.log
    # one task is computed again, alone
    rm -r part-2 age-p
    submitted "a redo" sbatch --parsable --array=2 slurm/chunk.sh
    holds "a redo computes its chunk" "permutations 5 to 8 of 40, chunk 2 of 10" chunk-2.log
    submitted "a merge" sbatch --parsable slurm/merge.sh
    same "with a redone task it is the whole" "$(about age-p)" "$(about whole)"
    # the array counts the chunks itself, if it is whole
    words="permute learn --target age_at_stroke --nlambda 10 --permutations 40"
    array() { submitted "array $1" sbatch --parsable --array="$1" --output=auto-%a.log --wrap "voxsift $words ${*:2} -o auto-\$SLURM_ARRAY_TASK_ID; echo \$?"; }
    array 0-3 --chunk auto
    works "--chunk auto" voxsift merge auto-0 auto-1 auto-2 auto-3 -o auto
    same "is the whole" "$(about auto)" "$(about whole)"
    rm -r auto-2
    array 2 --chunk auto
    holds "and a redo is refused" "this is task 2 of 1 from 2 to 2 by 1; to compute one chunk again" auto-2.log
    same "with 2" "$(tail -n 1 auto-2.log)" 2
    array 1-2 --force # an array of other things
    same "an array without --chunk shares nothing" "$(about auto-2)" "$(about whole)"
    holds "and is told so" "this task of a job array computes the whole run" auto-1.log
fi
slurm_stop
eval "$before"
unset SLURM_CONF
rm -rf "$dir" ./*
nothing_left "slurm"
