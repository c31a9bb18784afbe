"""Correct programs in the styles that people write them in: nothing is proven against any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.samples import found

IDIOMS = {
    "plain": """
for epoch in range(3):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
""",
    "functions": """
def train_one(net, batch, opt):
    x, y = batch
    opt.zero_grad(set_to_none=True)
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    return loss.item()


@torch.no_grad()
def evaluate(net, data):
    net.eval()
    return sum((net(x).argmax(1) == y).sum().item() for x, y in data)


for epoch in range(3):
    model.train()
    print(sum(train_one(model, batch, optimizer) for batch in loader), evaluate(model, val_loader))
""",
    "trainer-class": """
class Trainer:
    def __init__(self, net, opt, device="cpu"):
        self.net, self.opt, self.device = net.to(device), opt, device
        self.history = []

    def _loss(self, batch):
        x, y = (part.to(self.device) for part in batch)
        return F.cross_entropy(self.net(x), y)

    def epoch(self, data, train=True):
        self.net.train(train)
        total = 0.0
        with torch.set_grad_enabled(train):
            for batch in data:
                loss = self._loss(batch)
                if train:
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                total += loss.item()
        self.history.append(total)


trainer = Trainer(model, optimizer)
for _ in range(3):
    trainer.epoch(loader)
    trainer.epoch(val_loader, train=False)
""",
    "accumulation": """
steps = 4
for i, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y)
    (loss / steps).backward()
    if (i + 1) % steps == 0 or i + 1 == len(loader):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
""",
    "amp": """
use_amp = torch.cuda.is_available()
scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16, enabled=use_amp):
        loss = F.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
    "ddp": """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
net = DDP(nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)))
opt = torch.optim.AdamW(net.parameters())
data = TensorDataset(X[:400], Y[:400])
sampler = DistributedSampler(data)
batches = DataLoader(data, batch_size=16, sampler=sampler)
for epoch in range(3):
    sampler.set_epoch(epoch)
    net.train()
    for x, y in batches:
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(F.cross_entropy(net(X[400:]), Y[400:]).item())
""",
    "lightning": """
import lightning as L


class Lit(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self(x), y))

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)}


L.Trainer(max_epochs=10, gradient_clip_val=1.0).fit(Lit(), loader, val_loader)
""",
    "lightning-manual-gan": """
import lightning as L


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.g, self.d = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def training_step(self, batch, batch_idx):
        opt_g, opt_d = self.optimizers()
        x, _ = batch
        fake = self.g(torch.randn(len(x), 4))
        opt_d.zero_grad()
        self.manual_backward(F.softplus(-self.d(x)).mean() + F.softplus(self.d(fake.detach())).mean())
        opt_d.step()
        opt_g.zero_grad()
        self.manual_backward(F.softplus(-self.d(fake)).mean())
        opt_g.step()

    def configure_optimizers(self):
        return [torch.optim.Adam(self.g.parameters()), torch.optim.Adam(self.d.parameters())], []


L.Trainer(max_epochs=5).fit(Gan(), loader)
""",
    "huggingface-subclass": """
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels, weight=torch.tensor([1.0, 2.0, 4.0]))
        return (loss, outputs) if return_outputs else loss


net = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=3)
Weighted(model=net, args=TrainingArguments("out"), train_dataset=None).train()
""",
    "fabric": """
from lightning.fabric import Fabric

fabric = Fabric()
model, optimizer = fabric.setup(model, optimizer)
loader = fabric.setup_dataloaders(loader)
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    fabric.backward(loss)
    fabric.clip_gradients(model, optimizer, max_norm=1.0)
    optimizer.step()
""",
    "accelerate": """
from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(2):
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
""",
    "gan": """
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
D = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters(), 2e-4), torch.optim.Adam(D.parameters(), 2e-4)
bce = nn.BCEWithLogitsLoss()
for x, _ in loader:
    real, fake = torch.ones(len(x), 1), torch.zeros(len(x), 1)
    made = G(torch.randn(len(x), 4))
    D.zero_grad()
    loss_d = bce(D(x), real) + bce(D(made.detach()), fake)
    loss_d.backward()
    opt_d.step()
    G.zero_grad()
    loss_g = bce(D(made), real)
    loss_g.backward()
    opt_g.step()
""",
    "wgan-gp": """
D = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
G = nn.Linear(4, 8)
opt_d, opt_g = torch.optim.Adam(D.parameters()), torch.optim.Adam(G.parameters())
for i, (x, _) in enumerate(loader):
    fake = G(torch.randn(len(x), 4)).detach()
    mix = (0.5 * x + 0.5 * fake).requires_grad_(True)
    grad = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)[0]
    loss = D(fake).mean() - D(x).mean() + 10 * ((grad.norm(dim=1) - 1) ** 2).mean()
    opt_d.zero_grad()
    loss.backward()
    opt_d.step()
    if i % 5 == 0:
        opt_g.zero_grad()
        (-D(G(torch.randn(len(x), 4))).mean()).backward()
        opt_g.step()
""",
    "reinforce": """
from torch.distributions import Categorical

policy = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(policy.parameters())
for episode in range(100):
    obs, log_probs, rewards = torch.randn(8), [], []
    for t in range(50):
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(1.0)
        obs = torch.randn(8)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probs) * returns).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "rl-lstm": """
core, head = nn.LSTMCell(8, 16), nn.Linear(16, 3)
opt = torch.optim.Adam([*core.parameters(), *head.parameters()])
h, c = torch.zeros(1, 16), torch.zeros(1, 16)
done = True
for update in range(100):
    if done:
        h, c = torch.zeros(1, 16), torch.zeros(1, 16)
    else:
        h, c = h.detach(), c.detach()
    losses = []
    for t in range(20):
        h, c = core(torch.randn(1, 8), (h, c))
        losses.append(head(h).pow(2).mean())
        done = t % 7 == 6
        if done:
            break
    opt.zero_grad()
    torch.stack(losses).mean().backward()
    opt.step()
""",
    "dqn": """
import copy

q = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters())
for step in range(1000):
    s, a, r, s2 = torch.randn(32, 8), torch.randint(0, 3, (32,)), torch.randn(32), torch.randn(32, 8)
    with torch.no_grad():
        y = r + 0.99 * target(s2).max(1)[0]
    loss = F.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        target.load_state_dict(q.state_dict())
""",
    "tbptt": """
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(50, 16), nn.LSTM(16, 32, 2, dropout=0.2), nn.Linear(32, 50)

    def init_hidden(self, n):
        w = next(self.parameters())
        return w.new_zeros(2, n, 32), w.new_zeros(2, n, 32)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.emb(x), hidden)
        return self.out(out), hidden


def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)


net = LM()
opt = torch.optim.SGD(net.parameters(), lr=1.0)
text = torch.randint(0, 50, (1001, 4))
for epoch in range(3):
    net.train()
    hidden = net.init_hidden(4)
    for i in range(0, 1000, 20):
        hidden = repackage(hidden)
        opt.zero_grad()
        out, hidden = net(text[i : i + 20], hidden)
        F.cross_entropy(out.view(-1, 50), text[i + 1 : i + 21].reshape(-1)).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.25)
        opt.step()
    net.eval()
    with torch.no_grad():
        out, _ = net(text[:-1], net.init_hidden(4))
""",
    "maml": """
from torch.func import functional_call

meta = torch.optim.Adam(model.parameters())
for task in range(100):
    weights = dict(model.named_parameters())
    inner = F.cross_entropy(functional_call(model, weights, (X[:10],)), Y[:10])
    grads = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
    fast = {k: w - 0.1 * g for (k, w), g in zip(weights.items(), grads)}
    outer = F.cross_entropy(functional_call(model, fast, (X[10:20],)), Y[10:20])
    meta.zero_grad()
    outer.backward()
    meta.step()
""",
    "distillation": """
teacher = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 3))
teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)
T = 4.0
for x, y in loader:
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, dim=1)
    logits = model(x)
    loss = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction="batchmean") * T * T + F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "frozen-backbone": """
from torchvision import models

net = models.resnet18(weights="DEFAULT")
for p in net.parameters():
    p.requires_grad = False
net.fc = nn.Linear(512, 3)
opt = torch.optim.SGD(net.fc.parameters(), lr=0.01, momentum=0.9)
for epoch in range(3):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader))
""",
    "ema": """
import copy

average = copy.deepcopy(model)
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), model.parameters()):
            slow.lerp_(fast, 0.01)
""",
    "scheduler-per-step": """
epochs = 10
plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=epochs * len(loader))
for epoch in range(epochs):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        plan.step()
""",
    "plateau-scheduler": """
plan = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3)
for epoch in range(20):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held = sum(F.cross_entropy(model(x), y).item() for x, y in val_loader) / len(val_loader)
    plan.step(held)
""",
    "lbfgs": """
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=20)
for step in range(30):

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(net(X), Y)
        loss.backward()
        return loss

    print(opt.step(closure).item())
""",
    "vae": """
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.lv, self.dec = nn.Linear(8, 16), nn.Linear(16, 2), nn.Linear(16, 2), nn.Linear(2, 8)

    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * lv)
        return torch.sigmoid(self.dec(z)), mu, lv


net = VAE()
opt = torch.optim.Adam(net.parameters())
for x, _ in loader:
    out, mu, lv = net(x)
    loss = F.binary_cross_entropy(out, x.sigmoid(), reduction="sum") - 0.5 * torch.sum(1 + lv - mu.pow(2) - lv.exp())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "contrastive": """
head = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
opt = torch.optim.Adam(head.parameters())
for x, _ in loader:
    a, b = F.normalize(head(x), dim=1), F.normalize(head(x + 0.1 * torch.randn_like(x)), dim=1)
    logits = a @ b.t() / 0.1
    loss = F.cross_entropy(logits, torch.arange(len(x)))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "multi-loss": """
body, one, two = nn.Linear(8, 16), nn.Linear(16, 3), nn.Linear(16, 1)
opt = torch.optim.Adam([*body.parameters(), *one.parameters(), *two.parameters()])
for x, y in loader:
    z = torch.relu(body(x))
    loss = F.cross_entropy(one(z), y) + 0.1 * F.mse_loss(two(z).squeeze(1), y.float())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "seq2seq": """
encoder, decoder, out = nn.GRU(8, 16, batch_first=True), nn.GRUCell(3, 16), nn.Linear(16, 3)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *out.parameters()])
source, target = torch.randn(200, 12, 8), torch.randint(0, 3, (200, 6))
for x, y in DataLoader(TensorDataset(source, target), batch_size=20, shuffle=True):
    _, h = encoder(x)
    h, token, loss = h[0], torch.zeros(len(x), 3), 0.0
    for t in range(6):
        h = decoder(token, h)
        logits = out(h)
        loss = loss + F.cross_entropy(logits, y[:, t])
        token = F.one_hot(y[:, t], 3).float()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "keras": """
from tensorflow import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_train, x_test = x_train.astype("float32") / 255, x_test.astype("float32") / 255
net = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
net.fit(x_train, y_train, validation_data=(x_test, y_test), epochs=3)
""",
}


@pytest.mark.parametrize("name", IDIOMS)
def test_nothing_is_proven_against_a_correct_program(name: str, tmp_path: Path) -> None:
    told = found(IDIOMS[name], tmp_path)
    assert [(row.rule, row.claim, row.place.text) for row in told if row.proven] == []
