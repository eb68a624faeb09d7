"""Writing what commands say: results, messages, files, and problems of the logs."""
