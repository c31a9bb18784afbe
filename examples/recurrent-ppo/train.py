"""Recurrent PPO on a pole whose velocity cannot be seen, with the health of the policy's state in its telemetry.

python train.py --out runs/healthy
python train.py --out runs/exploding --fault explode     # the cell state is amplified, more with every update
python train.py --out runs/nan --fault nan               # a sensor gives NaN from the middle of the run on
python train.py --out runs/mlp --policy mlp              # no recurrent network: the state's metrics are null
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from traindx.monitor import LstmHealthTracker

ENVS, STEPS, EPOCHS, WIDTH = 32, 32, 4, 32
GAMMA, LAMBDA, CLIP = 0.98, 0.95, 0.2
State = tuple[Tensor, Tensor]


class Poles:
    """Poles that fall; an agent pushes left or right and sees the angle alone."""

    def __init__(self) -> None:
        self.angle, self.velocity, self.age = torch.zeros(ENVS), torch.zeros(ENVS), torch.zeros(ENVS)
        self.restart(torch.ones(ENVS, dtype=torch.bool))

    def restart(self, which: Tensor) -> None:
        self.angle[which] = 0.2 * torch.rand(int(which.sum())) - 0.1
        self.velocity[which] = 1.0 * torch.rand(int(which.sum())) - 0.5
        self.age[which] = 0

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Observation, reward, and which poles begin anew."""
        self.velocity += 0.05 * (9.8 * torch.sin(self.angle) + 6.0 * (2 * action - 1))
        self.angle += 0.05 * self.velocity
        self.age += 1
        fallen = self.angle.abs() > 0.6
        done = fallen | (self.age >= 200)
        self.restart(done)
        return self.observe(), 0.1 * (1.0 - fallen.float()), done

    def observe(self) -> Tensor:
        return 5 * self.angle[:, None]


class Evaluation(NamedTuple):
    """What `evaluate_actions` returns; `hidden` is the state after the last step, None without a recurrent network."""

    log_prob: Tensor
    value: Tensor
    entropy: Tensor
    hidden: State | None


class Policy(nn.Module):
    """Actor and critic over an LSTM, or over a layer without memory."""

    def __init__(self, recurrent: bool) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(1, WIDTH) if recurrent else None
        self.body = None if recurrent else nn.Linear(1, WIDTH)
        self.actor, self.critic = nn.Linear(WIDTH, 2), nn.Linear(WIDTH, 1)
        self.gain = 1.0

    def first_state(self) -> State | None:
        return None if self.cell is None else (torch.zeros(ENVS, WIDTH), torch.zeros(ENVS, WIDTH))

    def forward(self, seen: Tensor, state: State | None) -> tuple[Tensor, Tensor, State | None]:
        """Logits of the actions, value, and the next state."""
        if self.cell is None or state is None:
            features = torch.tanh(self.body(seen))
        else:
            h, c = self.cell(seen, state)
            state = (h, c * self.gain)
            features = h
        return self.actor(features), self.critic(features).squeeze(1), state

    def evaluate_actions(self, seen: Tensor, actions: Tensor, done: Tensor, state: State | None) -> Evaluation:
        """Go through a rollout again, from the state that it began with."""
        logs, values, entropies = [], [], []
        for step in range(STEPS):
            logits, value, state = self(seen[step], state)
            log = torch.log_softmax(logits, dim=1)
            logs.append(log.gather(1, actions[step, :, None]).squeeze(1))
            entropies.append(-(log.exp() * log).sum(1))
            values.append(value)
            state = forget(state, done[step])
        return Evaluation(torch.stack(logs), torch.stack(values), torch.stack(entropies), state)


def forget(state: State | None, done: Tensor) -> State | None:
    """The state, emptied where an episode ended."""
    if state is None:
        return None
    keep = (~done).float()[:, None]
    return state[0] * keep, state[1] * keep


class Rollout(NamedTuple):
    """What the poles and the policy did for some steps."""

    seen: Tensor
    actions: Tensor
    log_prob: Tensor
    done: Tensor
    returns: Tensor
    advantages: Tensor
    begun_with: State | None
    ended_with: State | None
    length: float


@torch.no_grad()
def collect(policy: Policy, poles: Poles, state: State | None) -> Rollout:
    """Play, and estimate the advantages."""
    begun_with, rows, seen = state, [], poles.observe()
    for _ in range(STEPS):
        logits, value, state = policy(seen, state)
        probabilities = torch.softmax(logits, dim=1)
        action = torch.multinomial(probabilities, 1).squeeze(1)
        log = torch.log_softmax(logits, dim=1).gather(1, action[:, None]).squeeze(1)
        following, reward, done = poles.step(action.float())
        rows.append((seen, action, log, done, value, reward))
        seen, state = following, forget(state, done)
    _, last, _ = policy(seen, state)
    seen_rows, actions, logs, done, values, rewards = (torch.stack(column) for column in zip(*rows, strict=True))
    advantages, running = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
    for step in reversed(range(STEPS)):
        ahead = last if step == STEPS - 1 else values[step + 1]
        going_on = (~done[step]).float()
        error = rewards[step] + GAMMA * ahead * going_on - values[step]
        running = error + GAMMA * LAMBDA * going_on * running
        advantages[step] = running
    length = STEPS * ENVS / max(1.0, float(done.sum()))
    return Rollout(seen_rows, actions, logs, done, advantages + values, advantages, begun_with, state, length)


def update(policy: Policy, optimizer: torch.optim.Optimizer, rollout: Rollout) -> dict[str, float | bool | None]:
    """Some epochs of PPO; the health of the state after every `evaluate_actions` is in what is returned."""
    health = LstmHealthTracker()
    losses: list[float] = []
    advantages = (rollout.advantages - rollout.advantages.mean()) / (rollout.advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        result = policy.evaluate_actions(rollout.seen, rollout.actions, rollout.done, rollout.begun_with)
        health.add(result.hidden)
        ratio = (result.log_prob - rollout.log_prob).exp()
        gained = torch.minimum(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
        value_loss = (result.value - rollout.returns).square().mean()
        loss = -gained.mean() + 0.5 * value_loss - 0.01 * result.entropy.mean()
        if not loss.isfinite():
            continue  # the update is skipped, and nothing but the telemetry tells of it
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
        losses.append(float(loss.detach()))
    mean = sum(losses) / len(losses) if losses else None
    return {"loss": mean, **health.metrics()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--policy", choices=("lstm", "mlp"), default="lstm")
    parser.add_argument("--fault", choices=("none", "explode", "nan"), default="none")
    parser.add_argument("--updates", type=int, default=40)
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    policy, poles = Policy(given.policy == "lstm"), Poles()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    given.out.mkdir(parents=True, exist_ok=True)
    state = policy.first_state()
    with (given.out / "telemetry.jsonl").open("w") as telemetry:
        for number in range(given.updates):
            if given.fault == "explode":
                policy.gain = 1.0 + 0.03 * number
            rollout = collect(policy, poles, state)
            state = rollout.ended_with
            if given.fault == "nan" and number >= given.updates // 2:
                rollout.seen[STEPS // 2, 0] = math.nan
            metrics = update(policy, optimizer, rollout)
            row = {"update": number, "episode_length": rollout.length, "reward": 0.1 * rollout.length, **metrics}
            telemetry.write(json.dumps(row) + "\n")
            telemetry.flush()


if __name__ == "__main__":
    main()
