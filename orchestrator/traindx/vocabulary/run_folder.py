"""The files of a folder that `traindx run` kept."""

LOG = "output.log"
"""both streams together, line by line: the one that is read"""
STREAMS = {"stdout": "stdout.log", "stderr": "stderr.log"}
SAMPLES = "system.jsonl"
SUMMARY = "run.json"
TELEMETRY = ".telemetry"
"""the telemetry that the command keeps elsewhere: a path on each line"""
ENVIRONMENT = "TRAINDX_RUN_FOLDER"
"""names the folder to the command, so that its own telemetry is kept there"""
