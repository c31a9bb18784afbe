import logging
import torch
import torch.nn as nn
import yaml

c = yaml.safe_load(open(".hydra/config.yaml"))
logging.basicConfig(filename="main.log", filemode="w", level=logging.INFO, format="[%(asctime)s][__main__][%(levelname)s] - %(message)s")
torch.manual_seed(c["seed"])
basis = torch.randn(5, 40)


def draw(n):
    return torch.randn(n, 5) @ basis / 2.2 + 0.05 * torch.randn(n, 40)


xt, xv = draw(c["train"]["n_train"]), draw(1000)
z, h = c["model"]["latent_dim"], c["model"]["hidden"]
net = nn.Sequential(nn.Linear(40, h), nn.ReLU(), nn.Linear(h, z), nn.Linear(z, h), nn.ReLU(), nn.Linear(h, 40))
opt = torch.optim.Adam(net.parameters(), lr=c["optim"]["lr"])
logging.info("instantiating <models.AutoEncoder>")
for ep in range(c["train"]["epochs"]):
    t = 0.0
    for b in torch.randperm(len(xt)).split(c["train"]["batch_size"]):
        loss = nn.functional.mse_loss(net(xt[b]), xt[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        t += loss.item() * len(b) / len(xt)
    with torch.no_grad():
        logging.info("epoch %d recon/train %.5f recon/test %.5f (signal variance %.3f)", ep, t, nn.functional.mse_loss(net(xv), xv).item(), xv.var().item())
