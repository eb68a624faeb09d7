"""The machine that rltui runs on: the GPUs and processes of the job."""
