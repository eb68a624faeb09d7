"""Many runs in parts: a plan of all runs, an evaluation of each part, one document of all of them."""
