# examples/slurm on a real slurmctld and slurmd of this machine's own, on loopback and out of a scratch
# directory; skipped where there are none.
slurm_reason() {
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
SchedulerParameters=sched_interval=1,bf_interval=1
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
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

daemons="" dir="$work/slurm"
reason=$(slurm_reason)
if [ -n "$reason" ]; then
    echo "note: Slurm was not tried: $reason" >&2
elif ! slurm_start; then
    echo "note: Slurm was not tried: no node of it became idle: $(grep -h -i -m 1 -E 'error|fatal' "$dir"/ctld.log "$dir"/slurmd.log "$dir"/log 2> /dev/null | head -n 1)" >&2
else
    voxsift simulate lasso --subjects 40 --features 200 -o learn -q > "$work/out"
    sed -i '1s/score/age_at_stroke/' learn/participants.tsv
    cp -r "$top/examples/slurm" slurm
    works "submitted" sh slurm/submit.sh 3
    for _ in $(seq 300); do
        [ -z "$(squeue -h 2> /dev/null)" ] && break
        sleep 0.2
    done
    same "all ended" "$(squeue -h 2>&1)" ""
    run voxsift permute learn --target age_at_stroke --nlambda 10 --permutations 40 -o whole -q
    same "the array's permutations are those of one run" "$(cat age-p/null.tsv 2>&1)" "$(cat whole/null.tsv)"
    same "and so is p" "$(grep -v -e '"command"' -e '"seconds"' age-p/permute.json 2>&1)" \
        "$(grep -v -e '"command"' -e '"seconds"' whole/permute.json)"
    holds "the array said which chunk" "chunk 2 of 3 (from SLURM_ARRAY_TASK_ID)" chunk-2.log
fi
for pid in $daemons; do kill "$pid" 2> /dev/null; done
for pid in $daemons; do wait "$pid" 2> /dev/null; done
unset SLURM_CONF
rm -rf "$dir" ./*
nothing_left "slurm"
