import logging, math, sys
import torch, yaml
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
logger = logging.getLogger("forecast")
C = yaml.safe_load(open("experiment.yaml"))
torch.manual_seed(0)
n = 4000
t = torch.arange(n) / 24.0
load = torch.sin(2 * math.pi * t) + 0.6 * torch.sin(2 * math.pi * t / 7) + 0.3 * torch.sin(4 * math.pi * t + 1) + 0.1 * torch.randn(n)
load = (load - load.mean()) / load.std()
L = C["data"]["lags"]
X, Y = load.unfold(0, L, 1)[:-1], load[L:, None]
cut = 3000
net = nn.Sequential(nn.Linear(L, C["model"]["hidden"]), nn.ReLU(), nn.Linear(C["model"]["hidden"], 1))
o = C["optim"]
opt = torch.optim.SGD(net.parameters(), lr=o["lr"], momentum=o["momentum"], weight_decay=o["weight_decay"])
mse = nn.MSELoss()
for ep in range(1, C["train"]["epochs"] + 1):
    tot = k = 0
    for b in torch.randperm(cut).split(C["train"]["batch"]):
        loss = mse(net(X[:cut][b]), Y[:cut][b])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item(); k += 1
        if k % 8 == 0:
            logger.info("epoch %d batch %d mse %.5f", ep, k, loss.item())
    with torch.no_grad():
        v = mse(net(X[cut:]), Y[cut:]).item()
        wn = math.sqrt(sum(p.pow(2).sum().item() for p in net.parameters()))
    logger.info("epoch %d train_mse %.5f valid_mse %.5f weight_norm %.4f", ep, tot / k, v, wn)
