import os
import pathlib
import subprocess
import sys

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy


@ray.remote(num_cpus=0, max_retries=0)
def on_node(command):
    said = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return said.stdout, said.stderr


nodes, said, folder, ending, patience, command = sys.argv[1:]
ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), log_to_driver=False, logging_level="error")
places = {
    node[name]: node["NodeID"]
    for name in ("NodeManagerAddress", "NodeManagerHostname", "NodeName")
    for node in ray.nodes()
    if node["Alive"]
}
started = {
    node: on_node.options(scheduling_strategy=NodeAffinitySchedulingStrategy(places[node], soft=False)).remote(command)
    for node in pathlib.Path(nodes).read_text().split()
    if node in places
}
for node, answer in started.items():
    try:
        out, err = ray.get(answer, timeout=int(patience) + 30)
    except RayError as error:
        out, err = b"", str(error).encode()
    (pathlib.Path(folder) / f"{node}.{ending}").write_bytes(out)
    (pathlib.Path(said) / "err" / node).write_bytes(err)
