"""Many runs in parts: a plan of all runs, a judgement of each part, one document of all of them."""
