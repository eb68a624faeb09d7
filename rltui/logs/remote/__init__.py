"""Remote folders (`s3://`, `gs://`, `hf://`, `sftp://`, ...): listed, and mirrored into the user's cache.

Everything else reads the mirror as it reads any local folder. Nothing is ever written into the store.
"""
