"""Commands that go on reading: findings as they fire, and waiting for conditions."""
