"""What has been read, held in bounded memory: exact recent points, bucketed history, attempts."""
