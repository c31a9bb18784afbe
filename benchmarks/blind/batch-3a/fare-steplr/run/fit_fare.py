import logging
import torch
import torch.nn as nn
import torch.nn.functional as F
from data import tabular

torch.set_num_threads(1)
logging.basicConfig(filename="fit.log", level=logging.INFO, format="[%(asctime)s] %(name)s %(levelname)s - %(message)s")
log = logging.getLogger("fare")
torch.manual_seed(0)
EPOCHS = 40
xt, yt = tabular(12000, seed=1)
xv, yv = tabular(2000, seed=2)
net = nn.Sequential(nn.Linear(12, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.1)
log.info("target variance %.4f", yv.var().item())
for epoch in range(EPOCHS):
    s = 0.0
    for i in torch.randperm(len(xt)).split(128):
        loss = F.mse_loss(net(xt[i]).squeeze(1), yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(i)
    with torch.no_grad():
        v = F.mse_loss(net(xv).squeeze(1), yv).item()
    log.info("ep %d/%d train_mse=%.5f val_mse=%.5f lr=%.3g", epoch + 1, EPOCHS, s / len(xt), v, opt.param_groups[0]["lr"])
    sched.step()
log.info("finished")
