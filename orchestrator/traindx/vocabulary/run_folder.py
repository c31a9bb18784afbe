"""The files of a folder that `traindx run` kept."""

LOG = "output.log"
"""both streams together, line by line: the one that is read"""
STREAMS = {"stdout": "stdout.log", "stderr": "stderr.log"}
SAMPLES = "system.jsonl"
SUMMARY = "run.json"
