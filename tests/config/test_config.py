"""Configuration: the user's word counts, a faulty word is told, and logs cannot make us run anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.common.writable_paths import config_file
from rltui.config import AlertConfig, Config, load_config
from rltui.config.config_schema import DISPLAY, PRIVATE
from rltui.metrics.resolve import MetricNames
from tests.support.commands.config_files import logs, own, told

__all__ = ["logs", "own"]  # fixtures


# ---- where it is


def test_nothing_said_is_nothing_wrong(own: Path, logs: Path) -> None:
    """Without files the defaults hold and no word is lost about it."""
    assert load_config([logs]) == Config()


def test_the_places(own: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """$RLTUI_CONFIG, $XDG_CONFIG_HOME, ~/.config, in that order; a relative XDG folder does not count."""
    assert config_file() == own
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_file() == tmp_path / ".config" / "rltui" / "config.toml"
    monkeypatch.setenv("RLTUI_CONFIG", str(tmp_path / "mine.toml"))
    assert config_file() == tmp_path / "mine.toml"
    assert "no such file" in told(load_config())[0]


def test_everything_that_may_be_said(own: Path) -> None:
    """A file that uses every key is without fault, and its words arrive."""
    own.write_text("""
theme = "paper"
smoothing = 0.6
poll = 2
pane = "reward"
ascii = true
color = false
mouse = false

[keys]
quit = "x"
find = ["/", "ctrl+f"]

[[metrics]]
id = "zork.bites"
title = "Bites"
pane = "underground"
unit = "count"
direction = "near0"
meaning = "How often a grue has bitten."
bounds = [0, 1000]
aliases = ["grue/bites", "grue/*/bites"]

[aliases]
"my/kl" = "policy.kl_ref"
"my/clip_pct" = { is = "policy.clip_fraction", unit = "percent" }

[panes.underground]
title = "Underground"
metrics = ["lamp/*"]

[[thresholds]]
metric = "policy.kl_ref"
above = 0.2
for = 5
severity = "critical"
message = "the policy has left"

[metrics_ranges]
"policy.entropy" = [0, 4]

[environments.gsm8k]
reward_min = 0
reward_max = 2
[environments.gsm8k.metrics_ranges]
format = [0, 1]

[frameworks]
"exp/*" = "verl"

[total_steps]
"*" = 5000

[alerts]
bell = true
notify = "osc9"
command = ["notify-send", "rltui"]
severity = "critical"
dwell = 30
cooldown = 600
""")
    config = load_config()
    assert told(config) == []
    assert config.files == (str(own),)
    assert (config.theme, config.smoothing, config.poll, config.ascii) == ("paper", 0.6, 2.0, True)
    assert config.keys == {"quit": ("x",), "find": ("/", "ctrl+f")}
    (threshold,) = config.thresholds
    assert (threshold.above, threshold.below, threshold.for_, threshold.severity) == (
        0.2,
        None,
        5,
        "critical",
    )
    assert config.framework_of("exp/1") == "verl"
    assert config.framework_of("other") is None
    assert config.total_of("any") == 5000
    assert config.alerts.command == ("notify-send", "rltui")

    names = MetricNames("verl", config)
    assert names.problems == ()
    bites = names.name("grue/bites")
    assert (bites.canonical, bites.pane) == ("zork.bites", "underground")
    assert names.name("grue/dark/bites").part == "dark"
    assert names.name("my/kl").canonical == "policy.kl_ref"
    assert names.name("my/clip_pct").to_canonical(50.0) == 0.5
    assert names.name("lamp/oil").pane == "underground"
    assert names.name("actor/entropy").declared_range == (0.0, 4.0)
    assert names.name("critic/rewards/mean").declared_range is None
    assert names.name("gdpo/gsm8k/mean").declared_range == (0.0, 2.0)
    assert names.name("gdpo/gsm8k/std").declared_range is None
    assert names.name("env/gsm8k/format").declared_range == (0.0, 1.0)


def test_the_range_of_rewards_is_that_of_means_alone(own: Path) -> None:
    """Neither spreads nor shares have the range of rewards that an environment declares."""
    own.write_text('[environments."*"]\nreward_min = 0\nreward_max = 2\n')
    names = MetricNames("oat", load_config())
    ranges = {
        metric.canonical: metric.declared_range
        for metric in map(names.name, ("actor/rewards", "actor/rewards_std", "actor/pass@k"))
    }
    assert ranges == {"reward.mean": (0.0, 2.0), "reward.std": None, "reward.pass_at_n": None}


def test_the_users_word_beats_the_frameworks(own: Path) -> None:
    """An alias wins over what a framework means by the name."""
    own.write_text('[aliases]\n"actor/ppo_kl" = "policy.kl_ref"')
    assert MetricNames("verl", load_config()).name("actor/ppo_kl").canonical == "policy.kl_ref"


# ---- beside the logs


def test_beside_the_logs_only_display_counts(own: Path, logs: Path) -> None:
    """Nothing beside logs can make us run, send, or change keys; it is told, and display facts hold."""
    own.write_text('theme = "night"\n[alerts]\nbell = true')
    (logs / "rltui.toml").write_text("""
theme = "evil"
poll = 0.05
[alerts]
command = ["rm", "-rf", "/"]
webhook = "https://evil.example/"
[keys]
quit = "q"
[frameworks]
"*" = "trl"
[metrics_ranges]
"reward.mean" = [0, 1]
""")
    config = load_config([logs])
    assert (config.theme, config.poll, config.keys, config.alerts) == (
        "night",
        None,
        {},
        AlertConfig(bell=True),
    )
    assert config.framework_of("x") == "trl"
    assert config.metrics_ranges == {"reward.mean": (0.0, 1.0)}
    for key in ("theme", "poll", "alerts", "keys"):
        assert any(f": {key} is read only from your own file" in message for message in told(config)), key
    assert not any("evil.example" in message for message in told(config))
    assert {problem.level for problem in config.problems} == {"warning"}


def test_private_and_display_keys_are_told_apart() -> None:
    """What runs or sends something is private."""
    assert not DISPLAY.keys() & PRIVATE.keys()
    assert {"alerts", "keys", "theme", "poll"} <= PRIVATE.keys()


def test_the_nearer_file_wins(own: Path, logs: Path) -> None:
    """Both files hold; where both say something, the one beside the logs wins; its thresholds come first."""
    own.write_text(
        '[aliases]\na = "reward.mean"\nb = "policy.kl_ref"\n[[thresholds]]\nmetric = "x"\nabove = 1'
    )
    (logs / "rltui.toml").write_text('[aliases]\na = "reward.std"\n[[thresholds]]\nmetric = "y"\nabove = 2')
    config = load_config([logs, logs])
    assert config.aliases == {"a": "reward.std", "b": "policy.kl_ref"}
    assert [threshold.metric for threshold in config.thresholds] == ["y", "x"]


def test_beside_a_single_log_file(own: Path, logs: Path) -> None:
    """The folder of a log file counts when the file is named."""
    (logs / "metrics.jsonl").write_text("{}")
    (logs / "rltui.toml").write_text('[frameworks]\n"*" = "verl"')
    assert load_config([logs / "metrics.jsonl"]).framework_of("x") == "verl"


# ---- what is wrong


FAULTS = [
    ("theme = 3", "line 1: theme must be a text, not a number (3)"),
    ("smoothing = 1.5", "smoothing must be a finite number from 0 to 0.999"),
    ("poll = nan", "poll must be a finite number"),
    ("ascii = 'yes'", "ascii must be true or false, not a text ('yes')"),
    ("nonsense = 1", "nonsense is unknown; permitted: alerts, aliases"),
    ("[[thresholds]]\nabove = 1", "thresholds[1] needs 'metric'"),
    ("[[thresholds]]\nmetric = 'x'", "thresholds[1] needs at least one of: above, below"),
    (
        "[[thresholds]]\nmetric = 'x'\nabove = 1\n\n[[thresholds]]\nmetric = 'y'\nabove = 1\n"
        "severity = 'loud'",
        "line 8: thresholds[2].severity must be one of: info, warning, critical, not a text ('loud')",
    ),
    ("[[thresholds]]\nmetric = 'x'\nabove = 1\nfor = 0", "thresholds[1].for must be a whole number from 1"),
    (
        "[metrics_ranges]\n'a/b' = [1, 1]",
        'line 2: metrics_ranges."a/b" must be [low, high] with low below high',
    ),
    ("[metrics_ranges]\nx = [0, inf]", "both finite"),
    ("[environments.e]\nreward_min = 'low'", "environments.e.reward_min must be a finite number"),
    ("[aliases]\nx = 3", "aliases.x must be a canonical id"),
    ("[aliases]\nx = { is = 'a.b', colour = 1 }", "aliases.x.colour is unknown; permitted: caveat, is"),
    ("[panes.p]", "panes.p needs at least one of: title, metrics"),
    ("[alerts]\nnotify = 'loud'", "alerts.notify must be one of: off, osc9, osc777"),
    ("[alerts]\nwebhook = 'http://example.org'", "alerts.webhook must be an https:// address"),
    ("metrics = 1", "metrics must be a list, not a number (1)"),
    ("keys = [1]", "keys must be a table, not a list"),
    ("theme = 1979-05-27", "theme must be a text, not a date or time"),
    ("theme = [", "is not TOML"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_names_key_line_and_what_is_permitted(own: Path, text: str, message: str) -> None:
    """One clear sentence; the default stays in force."""
    own.write_text(text)
    config = load_config()
    assert any(message in each for each in told(config)), told(config)
    assert {problem.path for problem in config.problems} == {str(own)}
    assert {problem.level for problem in config.problems} == {"error"}


def test_all_faults_are_told_at_once_and_the_rest_holds(own: Path) -> None:
    """Faulty entries are left out, good ones beside them stay, and no two reports replace each other."""
    own.write_text(
        "poll = -1\ntheme = 'paper'\nsmoothing = 'much'\n[metrics_ranges]\na = [0, 1]\nb = [1, 0]\n"
    )
    config = load_config()
    assert len(told(config)) == 3
    assert len({problem.key for problem in config.problems}) == 3
    assert (config.theme, config.poll, config.metrics_ranges) == ("paper", None, {"a": (0.0, 1.0)})


def test_a_secret_is_not_quoted(own: Path) -> None:
    """A mistyped webhook or header is a secret all the same, and a file that others may read is told."""
    own.write_text("[alerts]\nwebhook = 'htps://s3cret'\nheaders = { A = 3 }")
    assert told(load_config())
    assert not any("s3cret" in message for message in told(load_config()))
    own.write_text("[alerts]\nwebhook = 'https://example.org/s3cret'")
    own.chmod(0o644)
    assert [problem.code for problem in load_config().problems] == ["config-readable-by-others"]
    own.chmod(0o600)
    assert told(load_config()) == []


def test_an_alias_to_nowhere_is_told(own: Path) -> None:
    """The message has the nearest ids."""
    own.write_text("[aliases]\n'x/y' = 'policy.clip_fractoin'\n'a{b' = 'reward.mean'")
    names = MetricNames("verl", load_config())
    messages = [problem.message for problem in names.problems]
    assert any("nearest: policy.clip_fraction" in message for message in messages)
    assert any("braces that do not pair" in message for message in messages)
    assert names.name("x/y").canonical is None


def test_an_own_metric_with_an_odd_unit_is_told(own: Path) -> None:
    """Units are those of the glossary."""
    own.write_text("[[metrics]]\nid = 'a.b'\ntitle = 'AB'\nunit = 'furlongs'\naliases = 'x/y'")
    (message,) = told(load_config())
    assert message.startswith("line 4: metrics[a.b].unit must be one of: fraction, probability")


def test_old_names_of_keys_keep_working(own: Path) -> None:
    """The keys of [alerts] that were renamed mean the same under their old names."""
    own.write_text("[alerts]\nbell = true\ndwell = 30\ndwell_steps = 5\nclear = 10\ncooldown = 600")
    config = load_config()
    assert told(config) == []
    assert config.alerts == AlertConfig(
        bell=True, for_=30.0, for_steps=5, resolve_after=10.0, repeat_interval=600.0
    )
    own.write_text(
        "[alerts]\nbell = true\nfor = 30\nfor_steps = 5\nresolve_after = 10\nrepeat_interval = 600"
    )
    assert load_config() == config


def test_the_old_name_of_the_healthy_range_keeps_working(own: Path) -> None:
    """A metric of the user's means the same with `band`."""
    own.write_text('[[metrics]]\nid = "zork.bites"\ntitle = "Bites"\nband = [0, 1]')
    config = load_config()
    assert told(config) == []
    assert config.metrics[0].metric.healthy_range == (0.0, 1.0)
