# By ClusterShell.
# shellcheck shell=sh disable=SC2154
launch() {
    timeout "$((patience + 30))" clush --hostfile="$nodes" --fanout="$jobs" --connect_timeout=10 --command_timeout="$((patience + 15))" \
        --options="$ssh_options" --outdir="$said/out" --errdir="$said/err" --quiet "$on_node"
    while read -r node; do [ ! -e "$said/out/$node" ] || mv "$said/out/$node" "$folder/$node.$ending"; done <"$nodes"
}
