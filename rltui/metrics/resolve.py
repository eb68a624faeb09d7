"""Resolving the tags of a run to metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.config import Config
from rltui.logs.records.record_keys import COMPUTED, learner_prefix
from rltui.metrics.catalogue import Catalogue, catalogue
from rltui.metrics.frameworks.framework import Resolved, Vote
from rltui.metrics.frameworks.patterns import is_wild
from rltui.metrics.frameworks.recognise import UNKNOWN
from rltui.metrics.metric_name import MetricName
from rltui.metrics.unknown_keys import folders, humanise, place_key, plainly_spelled
from rltui.metrics.user_metrics import UserMetrics
from rltui.schema.metric import Metric, NameTarget, Statistic

_MEAN = regex(r"(?:avg|average|mean)_(\w+)\Z|(\w+)_(?:avg|average|mean)\Z")
# Panes that also show the metrics of evaluations; those of other panes move to `validation`.
_PANES_WITH_EVALUATIONS = ("timing", "perf", "system", "load", "rollout", "other")


CONTESTED = "A guess: other frameworks mean something else by this name."
SAMPLES = "samples"  # the file of names of metrics that rltui computes from samples
CUSTOM = "other.custom"  # any metric of the run itself, placed by the parts of its key


class _Meaning(NamedTuple):
    """The properties of a name target; no metric if its canonical id is unknown."""

    metric: Metric | None
    unit: str = ""
    scale: float = 1.0
    comparable: bool = True
    held_out: bool = False
    generic: bool = False  # the title is made from the key


def _title_from_key(tag: str, pattern: str, part: str) -> str:
    """The title of a generic metric."""
    last = folders(tag)[-1]
    if not part or pattern.endswith("*"):
        return humanise(last)
    return humanise(part) if is_wild(pattern.rsplit("/", 1)[-1]) else f"{humanise(last)} · {part}"


class _Guess(NamedTuple):
    """The meaning of a name in most frameworks, and whether it is from an evaluation."""

    found: Resolved
    vote: Vote
    held_out: bool

    @property
    def wild(self) -> bool:
        """Whether the name was found by a pattern."""
        return is_wild(self.found.pattern)


class MetricNames:
    """The meanings of the tags of a run, by configuration, then framework, then a guess by all frameworks."""

    def __init__(
        self, framework: str | None = None, config: Config | None = None, shipped: Catalogue | None = None
    ) -> None:
        """framework: id or label (`trl-grpo`, `prime_rl`), or None or `unknown`."""
        self._shipped = shipped or catalogue()
        self._known = self._shipped.frameworks
        self._conventions = self._shipped.conventions
        self.label = framework if framework and framework != UNKNOWN else None  # as given
        self._framework = self._known.get(self.label) if self.label is not None else None
        self._label = self._framework.label if self._framework is not None else None
        fallback = (self._known.get(id_) for id_ in self._conventions.fallback)
        self._fallback = tuple(other for other in fallback if other is not None)
        self._user = UserMetrics(config or Config(), self._shipped)
        self._names: dict[str, MetricName] = {}
        self._meanings: dict[tuple[int, bool], _Meaning] = {}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of names in the user's configuration."""
        return self._user.problems

    def name(self, tag: str) -> MetricName:
        """The meaning of a tag. Never fails; returns the same object for the same tag."""
        found = self._names.get(tag)
        if found is None:
            found = self._names[tag] = self._resolve(tag)
        return found

    @property
    def pane_titles(self) -> Mapping[str, str]:
        """Titles of panes in the user's configuration, by id."""
        return self._user.pane_titles

    def _resolve(self, tag: str) -> MetricName:
        found = self._user.find(tag)
        if found is not None:
            return self._known_name(tag, found, None)
        if tag.startswith(COMPUTED) and len(tag) > len(COMPUTED):
            return self._computed(tag)
        framework = self._framework
        if framework is not None:
            found = self._known.find(framework, tag)
            if found is not None:
                return self._known_name(tag, found, self._label)
        for other in self._known.used_in_any_run:
            found = other.find(tag)
            if found is not None:
                return self._known_name(tag, found, other.label)
        guess = self._guess(tag)
        plain = plainly_spelled(tag) if framework is None and (guess is None or guess.wild) else tag
        if plain != tag and (of_plain := self._guess(plain)) is not None and not (guess and of_plain.wild):
            guess = of_plain  # an exact name takes precedence over a pattern
        if guess is None and framework is None and (mean := _MEAN.match(plain)):
            guess = self._guess(mean[1] or mean[2])
            if guess is not None and guess.found.entry.canonical.startswith("progress."):
                guess = None  # the mean of a counter is no counter
        if guess is None and framework is None and (slashed := self._known.with_slashes(tag)) is not tag:
            guess = self._guess(slashed)
        if guess is None and framework is None and "_" in tag and "/" not in tag:  # as in file names
            guess = self._guess(tag.replace("_", "/", 1))
        if guess is None and framework is None and (named := self._of_learner(tag)) is not None:
            return named
        if guess is None and framework is None:
            plain = self._known.words.without_container(plain)
            guess = self._guess(plain)
        bare, known_as = self._known.words.without_sections(tag)
        if guess is None and framework is None and known_as != bare:
            return (self._of_part(tag, bare, known_as) if known_as else None) or self._unknown(tag)
        if guess is None and framework is None and (spelled := self._known.words.find(plain)):
            guess = _Guess(spelled, Vote(spelled.entry, (), False), spelled.held_out)
        if guess is None and framework is None:
            named = self._of_part(tag, bare, bare) if bare != tag else None
            if named is not None:
                return named
        if guess is not None:
            return self._known_name(tag, guess.found, None, guess=guess)
        return self._unknown(tag)

    def _of_learner(self, tag: str) -> MetricName | None:
        """The meaning of a tag below labels of one of several learners, as on consoles; None if unknown."""
        learner = learner_prefix().match(tag)
        if learner is None:
            return None
        bare = tag[learner.end() :]
        in_role = self._known.words.below_role(learner[1].rpartition("/")[2], bare)
        own = in_role and not self.name(in_role).part  # else it means no more than the end does
        named = self._of_part(tag, bare, in_role) if own else None
        return named or self._of_part(tag, bare, bare)

    def _of_part(self, tag: str, bare: str, known_as: str) -> MetricName | None:
        """The meaning of a name, given to a tag that ends in `bare`, its beginning in the title; or None."""
        named, part = self.name(known_as), re.sub("[_/]", " ", tag[: len(tag) - len(bare) - 1])
        if not named.recognised:
            return None
        named = named._replace(tag=tag)
        return named if named.part else named._replace(title=f"{named.title} · {part}", part=part)

    def _computed(self, tag: str) -> MetricName:
        """The meaning of a metric that rltui computed from samples."""
        bare = tag[len(COMPUTED) :]
        table = self._known.get(SAMPLES)
        found = table.find(bare) if table is not None else None
        name = self._known_name(bare, found, None) if found is not None else self._resolve(bare)
        return name._replace(tag=tag, title=f"{name.title} · samples", computed=True)

    def _guess(self, tag: str) -> _Guess | None:
        """The meaning of a name in most frameworks; patterns count only if the run's framework is unknown."""
        framework = self._framework
        wild = framework is None
        vote = self._known.vote(tag, wild=wild)
        if vote is not None:
            # That framework decides whether it is from an evaluation: val/ratio is a ratio of the policy.
            writer = self._known.get(vote[1].frameworks[0])
            return _Guess(*vote, writer is not None and writer.is_held_out(tag))
        held_out = self._conventions.held_out if framework is None else framework.held_out
        for prefix in held_out if tag.startswith(held_out) else ():  # one call for most tags
            if tag.startswith(prefix) and len(tag) > len(prefix):
                vote = self._known.vote(tag[len(prefix) :], wild=wild)
                if vote is not None and not vote[0].entry.canonical.startswith("validation."):
                    return _Guess(vote[0]._replace(held_out=True), vote[1], True)
        for prefix in self._conventions.training:
            bare = tag[len(prefix) :] if tag.startswith(prefix) else ""
            if bare and (known_as := self._known.words.below([prefix[:-1]], bare)):
                vote = self._known.vote(known_as, wild=wild)
                if vote is not None:
                    return _Guess(*vote, False)
        for other in self._fallback:
            found = other.find(tag)
            if found is not None:
                return _Guess(found, Vote(found.entry, (other.id,), False), found.held_out)
        return None

    def _held_out(self, tag: str) -> bool:
        if self._framework is not None:
            return self._framework.is_held_out(tag)
        return tag.startswith(self._conventions.held_out)

    def _known_name(
        self, tag: str, found: Resolved, framework: str | None, guess: _Guess | None = None
    ) -> MetricName:
        entry, pattern, part, prefixed = found
        meaning = self._meanings.get((id(entry), prefixed))
        if meaning is None:
            meaning = self._meanings[id(entry), prefixed] = self._meaning_of(entry, prefixed)
        metric = meaning.metric
        if metric is None:
            return self._unknown(tag)
        if is_wild(pattern) and (word := self._conventions.statistics.get(part.lower())):
            # "eval_*_return" is the pattern of "eval_std_return", too.
            metric = self._user.metric(f"{metric.group}.{word}") or metric
            part = "" if metric.statistic == word else part
        else:
            word = ""
        held_out = prefixed or meaning.held_out or (guess.held_out if guess else self._held_out(tag))
        pane = metric.pane
        if held_out and pane not in _PANES_WITH_EVALUATIONS:
            pane = "validation"
        group = metric.group or metric.id
        if metric.id == CUSTOM and not is_wild(pattern) and "/" in tag:
            place = place_key(tag, self._conventions)
            pane, group = place.pane, place.group
        pane = self._user.pane_of(tag, metric.id) or pane
        statistic = word or metric.statistic or self._statistic(entry, metric, tag)
        if entry.statistic == "copy":
            statistic = entry.statistic
        title = metric.title
        if meaning.generic:
            title = _title_from_key(tag, pattern, part)
            if statistic and not title.lower().endswith(statistic):
                title = f"{title} {statistic}"
        elif part:
            title = f"{title} · {part}"
        return MetricName(
            tag,
            title,
            pane,
            metric.id,
            metric,
            group,
            meaning.unit,
            metric.importance,
            framework,
            guess is not None,
            held_out,
            part,
            statistic,
            CONTESTED if guess is not None and guess.vote.contested else entry.caveat,
            meaning.scale,
            entry.offset,
            meaning.comparable,
            self._user.range_of(tag, metric.id, part),
        )

    def _statistic(self, entry: NameTarget, metric: Metric, tag: str) -> Statistic:
        """The statistic in a tag, for a metric that is not itself a statistic, as in `actor_loss/std`."""
        if entry.statistic:
            return entry.statistic
        last = folders(tag)[-1].lower()
        word = self._conventions.statistics.get(last) or self._conventions.statistics.get(
            last.rsplit("_", 1)[-1]
        )
        own = metric.id.replace("_", ".").split(".")  # as in the share of groups with zero std
        return "" if not word or word in own else word

    def _meaning_of(self, entry: NameTarget, prefixed: bool) -> _Meaning:
        """prefixed: whether the name follows a prefix of evaluation."""
        canonical = entry.canonical
        if prefixed:
            canonical = self._conventions.validation.get(canonical, canonical)
        metric = self._user.metric(canonical)
        if metric is None:
            return _Meaning(None)
        unit, scale, comparable = self._units(entry, metric)
        if not comparable and (metric.bounds is not None or metric.healthy_range is not None):
            metric = metric._replace(bounds=None, healthy_range=None)  # both are on the canonical scale
        held_out = canonical.startswith("validation.")
        return _Meaning(metric, unit, scale, comparable, held_out, canonical in self._conventions.kinds)

    def _units(self, entry: NameTarget, metric: Metric) -> tuple[str, float, bool]:
        """Unit as written, factor to the canonical unit, and whether the factor is known."""
        if entry.scale is not None:
            return entry.unit or metric.unit, float(entry.scale), True
        if not entry.unit or entry.unit == metric.unit:
            return metric.unit, 1.0, True
        factor = self._conventions.units.get(f"{entry.unit} -> {metric.unit}")
        return entry.unit, float(factor or 1.0), factor is not None

    def _unknown(self, tag: str) -> MetricName:
        framework = self._framework
        bare = framework.bare(tag) if framework is not None else tag
        held_out = self._held_out(tag)
        if framework is not None:
            for prefix in self._conventions.training:
                bare = bare.removeprefix(prefix) or bare
        place = place_key(bare, self._conventions)
        pane = place.pane
        if framework is not None and "/" in bare:
            section = bare.split("/", 1)[0]
            if section in framework.sections:
                pane = self._shipped.area_panes.get(framework.sections[section], pane)
        if held_out:
            pane = "validation"
        pane = self._user.pane_of(tag, None) or pane
        return MetricName(
            tag,
            place.title,
            pane,
            group=place.group,
            framework=self._label,
            held_out=held_out,
            statistic=place.statistic,
            declared_range=self._user.range_of(tag, None),
        )
