import json
import pathlib
import sys

said, folder, ending = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
for answer in (said / "answers").iterdir():
    told = json.loads(answer.read_text())
    (folder / f"{answer.name}.{ending}").write_text(told.get("stdout", ""))
    (said / "err" / answer.name).write_text(told.get("stderr") or told.get("msg", ""))
