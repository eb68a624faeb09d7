"""Trainings of toys in numpy, healthy and sick, and logs of them."""
