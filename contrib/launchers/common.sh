# What the launchers share: arguments, what is done on a node, and who answered.
# shellcheck shell=sh
if [ $# -lt 3 ]; then
    echo "${0##*/}: NODES FOLDER COMMAND...: a file with one node per line, a folder for what they say, and what each runs" >&2
    exit 2
fi
[ -r "$1" ] || { echo "${0##*/}: $1 cannot be read; name a file with one node per line" >&2; exit 2; }
given=$1
folder=$2
shift 2
command=$*
patience=${SWITCHCOST_PATIENCE:-60}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
nodes=$folder/.nodes
# Blank lines and comments are no nodes, and a node that stands there twice is started once.
sed 's/#.*//; s/[[:space:]]//g' "$given" | awk 'NF && !seen[$0]++' >"$nodes"
[ -s "$nodes" ] || { echo "${0##*/}: $given names no node" >&2; exit 2; }
# A launcher's words end up in a shell on the node.
if grep -qvE '^[A-Za-z0-9_][A-Za-z0-9._:-]*$' "$nodes"; then
    echo "${0##*/}: $given: a node is called by letters, digits and . _ : -" >&2
    exit 2
fi
while read -r node; do rm -f "$folder/$node.out" "$folder/$node.err" "$folder/$node.status"; done <"$nodes"

# For a launcher whose nodes share the folder: FOLDER, the variable with the node's name, seconds, COMMAND.
on_node() {
    # shellcheck disable=SC2016
    echo 'eval "node=\$$2"; cd / && timeout -k 5 "$3" sh -c "$4" >"$1/$node.out" 2>"$1/$node.err" </dev/null; echo $? >"$1/$node.status"'
}

# For one that starts a command through ssh: $1 is the node.
through_ssh() {
    status=0
    # shellcheck disable=SC2086
    timeout -k 5 "$patience" ssh -n -o BatchMode=yes -o ConnectTimeout=10 ${SWITCHCOST_SSH_OPTIONS:-} "$1" "$command" \
        >"$folder/$1.out" 2>"$folder/$1.err" || status=$?
    echo "$status" >"$folder/$1.status"
}

# Ends the launcher: 0 if every node answered with status 0, else 1 with the names of the others.
answered() {
    missing=''
    while read -r node; do
        [ "$(cat "$folder/$node.status" 2>/dev/null)" = 0 ] || missing="$missing $node"
    done <"$nodes"
    rm -f "$nodes"
    [ -z "$missing" ] && exit 0
    echo "${0##*/}: no answer, or a failed one, from$missing" >&2
    exit 1
}
