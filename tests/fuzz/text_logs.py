"""Damaged text logs: none raises, hangs, or reads differently in pieces than whole."""

from __future__ import annotations

import random
from functools import cache

from rltui.logs.batch import Batch
from rltui.logs.formats.documents import json_document
from rltui.logs.formats.interface import HEAD, Format
from rltui.logs.formats.lines import csv_table, jsonl, sample_log
from rltui.logs.formats.printed_metrics import labelled_console, trainer_console
from rltui.logs.formats.registry import REGISTRY
from tests.fuzz.damage import damaged
from tests.support.logs.file_in_memory import MemFile, cut, points, read_in_pieces, read_whole
from tests.support.shared import BUNDLED

NAMES = {
    "jsonl": "metrics.jsonl",
    "document": "trainer_state.json",
    "csv": "progress.csv",
    "console": "a.log",
    "labelled": "a.log",
    "samples": "rollouts.jsonl",
}
_TOKENS = (
    b'\0|\n|"|{|}|,|[|]|NaN|-|1e999|\\ud800|\xff|null|true|"step"|: |Infinity|-Infinity|\r'
    b'|\xef\xbb\xbf|-1e308|{}|_|/|"a":|#|\t|step:1 - |np.float64('
)
TOKENS = (*_TOKENS.split(b"|"), b"9" * 400, b"\0" * 100, b"[" * 2000)

# What consoles of trainers say of a step: dictionaries behind progress bars, labelled ones, grids, tables.
_CONSOLE_ROWS = (
    "\r 3%|██  | {0}/9 [00:01<00:09,  1.0it/s]\r    \r{{'loss': '{0}.5', 'epoch': '0.{0}'}}\n",
    "(Actor pid=7) ✨ Global step {0}: {{'reward': 0.{0}, 'kl': nan}}\n",
    "step {0}: {{'train/loss': 0.{0}, 'train/grad_norm': 1.5}}\nperf {0}: {{'perf/x': 2}}\n",
    "INFO | Step {0}: \n(e pid=1) {{'a/b': '0.4125',\n(other pid=2) hello\n(e pid=1)  'c': 37}}\n",
    "Step {0}/10 Train step {0}/20 done.\n╒════╕\n│ ppo/loss │ 2.0e-01 │ ppo/kl │ 1.5e-03 │\n╘════╛\n",
    "------\n| rollout/ |  |\n|    ep_rew_mean | 19.2 |\n| time/ | |\n|    total_timesteps | {0} |\n------\n",
)
# What loops print in words of their own: lines, and blocks below a counter.
_LABELLED_ROWS = (
    "2024-05-06 07:08:09,123 INFO Episode {0}/9 | Reward: {0}.5 ± 0.1 | Loss: 1,{0} | eps 0.{0}%\n",
    "###\n Learning iteration {0}/9\n  Mean reward: {0}.5\n  Total steps: {0}00\n  ETA: 00:01:0{0}\n---\n",
    "第{0}回合, 平均奖励：{0}.5\nBölüm {0}, Ödül: {0}.5\n[{0}] reward={0}.5 loss=0.{0}\n",
    "Step {0}\nactor:\n  pg_loss: 0.{0}\n  kl:\n    mean: {0}.5\n",
    "== Iteration {0}/9 ===\n[Update 1/2] rewards=['{0}', '.5']\n[Update 2/2] Adv(mean={0}.5, std=nan)KL=1\n",
    "Epoch: [1][{0}/9] loss=tensor(0.{0}) kl: nan\rbest score: {0}\n",
    "[2023-01-15 12:05:31,110][00305] Fps is (10 sec: {0}.5, 60 sec: nan). Total num frames: {0}0. "
    "Throughput: 0: {0}.5, 1: nan. Samples: {0}. Policy #0 lag: (min: 0.0, avg: 0.{0}, max: {0}.0)\n"
    "[2023-01-15 12:05:31,111][00305] Avg episode reward: [(0, '{0}.382')]\n",
    "[Learner] Actor Steps = {0} | Loss = 0.5\n[eval]  Actor Steps = {0} | Episode Return = 2.{0}\n",
    "{0}%|█  | {0}/9 [00:01<00:09,  1.0it/s, reward=[{0}.5], loss=nan]\r",
    "Episode {0}: {{'reward': '{0}.5', 'kl': np.float32(nan)}}\n{{'loss': 0.{0},\n 'step': {0}}}\n",
    "╭──╮\n│ Steps  {0}.5M   loss  0.{0} │\n│ Epoch  {0}  1m 2s  23% │\n╰──╯\n",
    "----  ---\nAverageReturn  {0}.5\nTotalEnvSteps  {0}\n----  ---\n",
    "[Update {0}/9] Step: {0}00/900 | FPS: {0}\n └─ Win: 0.{0} | Loss(P/V/E): -0.{0}/{0}.5/nan\n",
    "Episode {0}\nAgent 1:\n  Reward: {0}.5\nAgent 2:\n  Reward: -{0}.5\n[Agent 3] step {0} loss 2\n",
    "ID   Step   avgR |  etc.\n0  {0}.0e+03  | -1.{0}  2.5\n",
    "(episode, reward)\n({0}, {0}.5)\n('Episode:', {0}, 'Reward:', {0}.5)\n回合 {0}，奖励：{0}.5\n",
    "total_timesteps: 9000 | timestep: {0}00 | reward: {0}.5\n[ {0}00/9000] reward: {0}.5\n",
    "+--+--+\n| episode | {0} |\n| reward | {0}.5 |\n+--+--+\n",
    "┃ Episode ┃ Loss ┃ Lr ┃\n│ {0} │ {0}.5 │ 0.1 │\n",
    "Iteration {0}:\n\trewards {0}.5 vf_loss [0.5]\nEpoch {0} finished after 9 steps with reward {0}.5\n",
)


@cache
def seeds() -> list[tuple[Format, bytes]]:
    """One small log of each shape."""
    odd = b'{"loss": 2, "global_step/max_steps": "1/4", "elapsed_time": "1m 3s", "x": {"0.5": 3}, "l": [1]}\n'
    sample = b'{"step": 4, "prompt_id": "a", "reward": 1.0, "completion_length": 10, "stop_reason": "stop"}\n'
    return [
        (jsonl.FORMAT, (BUNDLED / "verl-grpo-nan" / "verl-grpo-nan.jsonl").read_bytes()[:6000]),
        (jsonl.FORMAT, (BUNDLED / "sb3-sac" / "progress.json").read_bytes()[:3000]),
        (jsonl.FORMAT, 5 * odd),
        (
            jsonl.FORMAT,
            b"".join(b'{"episode": %d, "step": %d, "x": 1}\n' % (k, 20 + k * 5 % 7) for k in range(9)),
        ),
        (jsonl.FORMAT, b"".join(b'{"total_timesteps": 9, "timestep": %d, "x": 1}\n' % k for k in range(9))),
        (csv_table.FORMAT, b"# episode reward\n" + b"".join(b"%d %d.5\n" % (k, k) for k in range(9))),
        (
            json_document.FORMAT,
            (BUNDLED / "trl-onlinedpo" / "trainer_state.json").read_bytes()[:3000] + b"}]}",
        ),
        (json_document.FORMAT, b'[{"step": 1, "x": 1}, {"step": 2, "x": NaN}]'),
        (
            json_document.FORMAT,
            b'{"a": {"steps": [1, 2], "timestamps": ["2021-07-05T14:04:39"], "values": [1, NaN]}}',
        ),
        (json_document.FORMAT, b'{"a": [{"dtype": "f", "value": 1}, 2], "a_T": [1, 2], "b_T": [3]}'),
        (csv_table.FORMAT, (BUNDLED / "sb3-sac" / "progress.csv").read_bytes()[:1500]),
        (csv_table.FORMAT, b'#{"t_start": 1614619328.25}\nr,l,t\n10.0,10,0.5\n20.0,25,1.5\n"a",2,3\n'),
        (trainer_console.FORMAT, (BUNDLED / "verl-grpo-nan" / "console.log").read_bytes()[:4000]),
        (sample_log.FORMAT, 6 * sample),
        *((trainer_console.FORMAT, "".join(map(row.format, range(8))).encode()) for row in _CONSOLE_ROWS),
        *((labelled_console.FORMAT, "".join(map(row.format, range(8))).encode()) for row in _LABELLED_ROWS),
    ]


def said(form: Format, batch: Batch) -> object:
    """What counts in the end: all points, or for samples the newest of each tag and step."""
    found = points(batch)
    return {(tag, step): value for tag, step, _, value in found} if form.name == "samples" else found


def attempt(form: Format, sound: bytes, draw: random.Random) -> None:
    """Damage a log and read it in every way. Raises what a reader raises, AssertionError when ways differ."""
    name = NAMES[form.name]
    data, _ = damaged(sound, draw, times=6, words=TOKENS)
    REGISTRY.recognise(name, data[:HEAD])
    form.open(name).newest(MemFile(name, data), draw.randint(1, 500))
    whole = read_whole(form, MemFile(name, data))
    pieces = cut(data, [draw.randrange(len(data) + 1) for _ in range(3)])
    parts = read_in_pieces(form, name, pieces, draw.choice((7, 100, 1 << 20)))
    assert said(form, parts) == said(form, whole), "read differently in pieces"
