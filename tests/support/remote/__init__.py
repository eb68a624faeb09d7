"""Remote folders: objects in memory and a server of S3."""
