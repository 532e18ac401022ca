# By Kubernetes: an Indexed Job, one pod a node. Its pods end well however the command does, since one that fails would end the others.
# shellcheck shell=sh disable=SC2016,SC2154
launch() {
    count=$(wc -l <"$nodes")
    # A pod's log holds both streams; the one for errors goes into the message by which it ends.
    told=$(printf 'exec 2>/dev/termination-log; %s' "$on_node" | sed 's/[\\"]/\\&/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')
    # A Job of its own: one by another name may be somebody's measurement.
    job=switchcost-fleet-$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
    kubectl apply -f - <<JOB || return
apiVersion: batch/v1
kind: Job
metadata:
  name: $job
spec:
  completionMode: Indexed
  completions: $count
  parallelism: $count
  backoffLimit: 0
  activeDeadlineSeconds: $((patience + 300))
  template:
    metadata:
      labels:
        app: switchcost-fleet
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: kubernetes.io/hostname
                    operator: In
                    values: [$(sed 's/.*/"&"/' "$nodes" | paste -sd,)]
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels:
                  app: switchcost-fleet
      containers:
        - name: switchcost
          image: "$image"
          command: ["sh", "-c", "$told"]
JOB
    kubectl wait --for=condition=complete --timeout="$((patience + 240))s" "job/$job"
    kubectl get pods -l "job-name=$job" -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}' >"$said/pods"
    while read -r pod node; do
        [ -n "$node" ] || continue
        kubectl logs "$pod" >"$folder/$node.$ending"
        kubectl get pod "$pod" -o 'jsonpath={.status.containerStatuses[0].state.terminated.message}' >"$said/err/$node"
    done <"$said/pods"
    kubectl delete job "$job" --wait=false
}
