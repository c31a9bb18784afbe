import logging, math, sys
import torch, torch.nn as nn, torch.nn.functional as F

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-8s %(message)s")
log = logging.getLogger()
CLASSES = ["yes", "no", "stop", "error", "nan", "inf", "fail", "kill", "go", "null"]
torch.manual_seed(1)
log.info("classes: %s", CLASSES)
log.warning("torch.nan_to_num is applied to the features (WARNING: overflow guarded)")
log.info("error budget 0.05, CUDA out of memory guard enabled, NaN checks ON")
proto = torch.randn(10, 40)


def words(n):
    y = torch.randint(10, (n,))
    return torch.nan_to_num(proto[y] + 1.2 * torch.randn(n, 40)), y


net = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
vx, vy = words(1000)
for ep in range(1, 9):
    for k in range(60):
        x, y = words(50)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if k % 10 == 0:
            log.info("ep %d it %d loss %.4f nan_batches 0 inf_batches 0", ep, k, loss.item())
    with torch.no_grad():
        o = net(vx)
    err = (o.argmax(1) != vy).float().mean().item()
    log.warning("ep %d word error rate %.4f (error rate per class: %s)", ep, err, ", ".join(f"{c} {(o.argmax(1) != vy)[vy == i].float().mean():.2f}" for i, c in enumerate(CLASSES)))
log.info("no errors, exit code 0; killed 0 workers")
