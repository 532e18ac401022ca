# By GNU parallel and ssh.
# shellcheck shell=sh disable=SC2086,SC2154
launch() { parallel --will-cite --quote --jobs "$jobs" sh -c "$one" one '{}' ssh -n $ssh_options '{}' :::: "$nodes"; }
