# The scripts load in their shells and complete what the tables say.
voxsift completion bash > c.bash
bash_says() { # words of the command line, the last one being completed
    bash --norc -c '. ./c.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _voxsift; echo ${COMPREPLY[@]}' bash "$@" 2>&1
}
touch "a file.tsv" afile.npy
same "bash: commands" "$(bash_says voxsift si)" "simulate"
same "bash: all commands" "$(bash_says voxsift '')" "info regions match cohort patches simulate fit path cv permute stability compare merge predict report check-model methods version describe completion help"
same "bash: options" "$(bash_says voxsift simulate --no)" "--nonzero --noise --no-fsync"
same "bash: choices" "$(bash_says voxsift simulate --target d)" "diagnosis"
same "bash: operands" "$(bash_says voxsift simulate l)" "lasso"
same "bash: models" "$(bash_says voxsift simulate skfs-)" "skfs-linear skfs-additive skfs-nonadditive"
same "bash: options of any model" "$(bash_says voxsift simulate --vo)" "--voxel-noise --voxel-size"
same "bash: commands of help" "$(bash_says voxsift help ver)" "version"
same "bash: shells" "$(bash_says voxsift completion '' | tr ' ' '\n' | tail -n 3 | tr '\n' ' ')" "bash zsh fish "
same "bash: files" "$(bash_says voxsift info a | tr ' ' '\n' | sort | tr '\n' ' ')" "a afile.npy file.tsv "
same "bash: directories for -o" "$(bash_says voxsift simulate -o af)" "afile.npy"
same "bash: no guess for numbers" "$(bash_says voxsift simulate --noise '')" ""

voxsift completion fish > c.fish
fish_says() { HOME=$PWD fish --no-config -c "source c.fish; complete -C '$1'" 2>&1 | cut -f 1 | tr '\n' ' '; }
same "fish: commands" "$(fish_says 'voxsift met')" "methods "
same "fish: options" "$(fish_says 'voxsift simulate --no')" "--noise --nonzero --no-fsync "
same "fish: choices" "$(fish_says 'voxsift simulate --target d')" "diagnosis "
same "fish: operands" "$(fish_says 'voxsift completion z')" "zsh "
same "fish: files" "$(fish_says 'voxsift info af')" "afile.npy "

voxsift completion zsh > _voxsift
# what zsh itself would offer, taken from its own completion functions
cat > zpty.zsh << 'EOF'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; unsetopt zle_bracketed_paste 2> /dev/null; fpath=($PWD \$fpath); autoload -U compinit; compinit -u -D; cd $PWD; echo READY"
zpty -r z line '*READY*READY*'
zpty -w z "bindkey '^I' complete-word; zstyle ':completion:*' list-prompt ''; zstyle ':completion:*' menu no"
zpty -n -w z "voxsift $1"$'\t'
sleep 1
zpty -n -w z $'\C-a: \C-e END\n'
zpty -r z line '*END*'
print -r -- "$line"
EOF
zsh_says() { timeout 20 zsh -f zpty.zsh "$1" 2>&1 | tr -d '\r' | grep -aoE "$2" | head -n 1; }
same "zsh: syntax" "$(zsh -n _voxsift 2>&1)" ""
if zsh -f -c 'zmodload zsh/zpty && zpty z true' 2> /dev/null; then
    same "zsh: commands" "$(zsh_says 'simu' 'simulate')" "simulate"
    same "zsh: options" "$(zsh_says 'simulate --feat' '[-]-features')" "--features"
    same "zsh: choices" "$(zsh_says 'simulate --target dia' 'diagnosis')" "diagnosis"
else
    skip "no pseudo-terminal is to be had here; zsh was not tried"
fi
rm -rf ./* .zcompdump* .config .local .cache
nothing_left "completion"
