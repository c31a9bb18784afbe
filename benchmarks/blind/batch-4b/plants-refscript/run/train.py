import argparse, datetime, time
import numpy as np, torch
from torch import nn


def get_args():
    p = argparse.ArgumentParser(description="PyTorch Classification Training")
    p.add_argument("--data-path", default="data/plants8.npz")
    p.add_argument("--model", default="resnet_mini")
    p.add_argument("-b", "--batch-size", default=64, type=int)
    p.add_argument("--epochs", default=90, type=int)
    p.add_argument("--lr", default=0.1, type=float)
    p.add_argument("--momentum", default=0.9, type=float)
    p.add_argument("--wd", "--weight-decay", default=1e-4, type=float, dest="weight_decay")
    p.add_argument("--lr-step-size", default=30, type=int)
    p.add_argument("--lr-gamma", default=0.1, type=float)
    p.add_argument("--print-freq", default=25, type=int)
    p.add_argument("--seed", default=0, type=int)
    return p.parse_args()


class Block(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.c = nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o))
        self.d = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        return torch.relu(self.c(x) + self.d(x))


def train_one_epoch(model, crit, opt, x, y, epoch, args):
    model.train()
    ls = ac = n = 0
    batches = torch.randperm(len(x)).split(args.batch_size)
    for k, i in enumerate(batches):
        t = time.time()
        o = model(x[i])
        loss = crit(o, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        a = (o.argmax(1) == y[i]).float().mean().item() * 100
        ls, ac, n = ls + loss.item(), ac + a, n + 1
        if k % args.print_freq == 0:
            eta = datetime.timedelta(seconds=int((len(batches) - k) * (time.time() - t)))
            print(f"Epoch: [{epoch}]  [{k:2d}/{len(batches)}]  eta: {eta}  lr: {opt.param_groups[0]['lr']}  img/s: {len(i) / (time.time() - t):.4f}  loss: {loss.item():.4f} ({ls / n:.4f})  acc1: {a:.4f} ({ac / n:.4f})  time: {time.time() - t:.4f}  data: 0.0021  max mem: 0")


def evaluate(model, crit, x, y):
    model.eval()
    with torch.inference_mode():
        o = model(x)
    print(f"Test:  Total time: 0:00:00\nTest:  Acc@1 {(o.argmax(1) == y).float().mean().item() * 100:.3f} Acc@5 {(o.topk(5).indices == y[:, None]).any(1).float().mean().item() * 100:.3f} loss {crit(o, y).item():.4f}")


args = get_args()
print(args)
torch.manual_seed(args.seed)
d = np.load(args.data_path)
norm = lambda a: (torch.tensor(a).float() / 255 - 0.5) / 0.25
x, y, xv, yv = norm(d["x_train"]), torch.tensor(d["y_train"]), norm(d["x_val"]), torch.tensor(d["y_val"])
model = nn.Sequential(Block(3, 12, 2), Block(12, 24, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 8))
crit = nn.CrossEntropyLoss(label_smoothing=0.0)
opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=args.weight_decay)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=args.lr_step_size, gamma=args.lr_gamma)
print("Start training")
t0 = time.time()
for epoch in range(args.epochs):
    train_one_epoch(model, crit, opt, x, y, epoch, args)
    sched.step()
    evaluate(model, crit, xv, yv)
print(f"Training time {datetime.timedelta(seconds=int(time.time() - t0))}")
