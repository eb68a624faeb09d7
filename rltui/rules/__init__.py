"""Judging: conditions on windows of canonical metrics, symptoms that explain several, liveness, quality."""
