# What all launchers share. Above stand engine, folder, ending and command; below, launch of one engine, and the nodes in waves.
# Each node leaves NODE.$ending, NODE.err and NODE.status in the folder.
# shellcheck shell=sh disable=SC2016,SC2034,SC2089,SC2090,SC2154
patience=${SWITCHCOST_PATIENCE:-60} # seconds after which a node is given up
jobs=${SWITCHCOST_JOBS:-64}         # nodes at once
ssh_options="-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 ${SWITCHCOST_SSH_OPTIONS:-}"
command -v "$engine" >/dev/null || { echo "$engine is not installed here" >&2; exit 127; }
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit
nodes=$folder/.nodes said=$folder/.said failed=0
trap 'rm -rf "$nodes" "$said"' EXIT
# Not every engine hands on a node's own status: it is the last line of standard error. Who never writes it gave no answer.
on_node="timeout -k 5 $patience sh -c '$(printf %s "$command" | sed "s/'/'\\\\''/g")' </dev/null; printf '\\nswitchcost-status %s\\n' \$? >&2"

# For engines that start one node at a time: NODE PROGRAM... starts what follows it on that node. It ends well, since xargs starts no further one otherwise.
one='node=$1; shift; timeout -k 5 "$((patience + 30))" "$@" "$on_node" >"$folder/$node.$ending" 2>"$said/err/$node" </dev/null; true'
export patience folder ending on_node one said

# Starts the command on the nodes that it reads, and names those that did not end well.
wave() {
    cat >"$nodes"
    rm -rf "$said" && mkdir -p "$said/out" "$said/err" || exit
    # A node that never answers leaves an empty file: it is a node all the same.
    while read -r node; do : >"$folder/$node.$ending"; : >"$said/err/$node"; done <"$nodes"
    launch </dev/null >"$said/log" 2>&1
    bad=''
    while read -r node; do
        sed -n '$s/^switchcost-status //p' "$said/err/$node" >"$folder/$node.status"
        sed '/^switchcost-status /d' "$said/err/$node" >"$folder/$node.err"
        [ "$(cat "$folder/$node.status")" = 0 ] || bad="$bad $node"
    done <"$nodes"
    [ -n "$bad" ] || return 0
    tail -n 3 "$said/log" >&2
    echo "no answer, or a failed one, from$bad" >&2
    failed=1
}
