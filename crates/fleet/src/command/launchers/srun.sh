# By Slurm, within an allocation or outside. Each node is a step of its own, so that one that is down holds nobody up.
# shellcheck shell=sh disable=SC2154
launch() { xargs -P "$jobs" -I '{}' sh -c "$one" one '{}' srun --quiet --nodes=1 --ntasks=1 --nodelist='{}' sh -c <"$nodes"; }
