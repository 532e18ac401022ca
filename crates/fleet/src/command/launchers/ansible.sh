# By ansible; the nodes need no Python. With a terminal, what a node says on standard error would stand in its run file.
# shellcheck shell=sh disable=SC2154
launch() {
    ANSIBLE_SSH_USETTY=False timeout "$((patience + 60))" ansible all --inventory "$nodes" --forks "$jobs" --timeout 10 --tree "$said/answers" \
        --ssh-common-args="$ssh_options" --module-name ansible.builtin.raw --args "$on_node"
    python3 - "$said" "$folder" "$ending" <<'PYTHON'
@PYTHON@
PYTHON
}
