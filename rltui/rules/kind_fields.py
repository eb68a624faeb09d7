"""What the kinds of conditions take: the numbers and the words of a rule in the data files, by kind."""

from __future__ import annotations

NUMBERS: dict[str, tuple[str, ...]] = {
    "threshold": (
        "above",
        "below",
        "near",
        "within",
        "window",
        "few",
        "share",
        "release",
        "least",
        "nonzero",
        "sure",
        "chance",
        "waves",
        "lasting",
    ),
    "spike": ("times", "window", "sigmas", "recurring", "floor", "least", "release", "recent"),
    "shift": ("times", "window", "sigmas", "release", "floor", "least"),
    "trend": ("z", "noises", "relative", "absolute"),
    "collapse": ("fraction", "window", "release", "least", "arrival", "quick"),
    "drop": ("fraction", "window", "sigmas", "release", "least", "young"),
    "flips": ("window", "least", "share"),
    "frozen": ("window", "within", "jump"),
    "first": ("above", "below", "usual", "multiple_of", "within"),
    "constant": ("window", "within", "above", "below", "steps"),
    "was-constant": ("window", "within", "above", "below"),
    "logged": (),
    "flat": ("window", "sigmas", "sees"),
    "best": ("fraction", "window", "sigmas"),
    "gained": ("fraction", "window", "sigmas"),
    "course": ("z", "relative", "noises", "absolute"),
    "peaked": ("fraction", "sigmas", "least"),
    "outlier": ("times", "sigmas", "least"),
    "gain-lost": ("fraction", "sigmas", "least", "young", "effect", "own_noise", "lasting"),
    "below-start": ("fraction", "sigmas", "least", "young"),
    "no-gain": ("effect", "points", "steps", "within"),
    "non-finite": ("after", "least", "lasting", "passing"),
    "ended": (),
}
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "threshold": {
        "of": ("", "start", "start-high", "start-low", "usual", "best", "lowest"),
        "sign": ("", "abs"),
    },
    "trend": {"direction": ("up", "down", "flat")},
    "course": {"direction": ("up", "down", "both", "flat")},
    "shift": {"direction": ("up", "down")},
    "frozen": {"at": ("", "lowest")},
}
