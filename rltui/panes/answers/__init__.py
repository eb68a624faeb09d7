"""Answers as data: the sentence, facts, shares and charts that a pane shows above its metrics."""
