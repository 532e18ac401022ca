# By Ray, of the cluster RAY_ADDRESS or of this machine; nodes are called by Ray's names, their hosts or their addresses.
# shellcheck shell=sh disable=SC2154
launch() {
    python3 - "$nodes" "$said" "$folder" "$ending" "$patience" "$on_node" <<'PYTHON'
@PYTHON@
PYTHON
}
