import logging
import torch
from mdn import MDN, nll

logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d | %(name)s | %(message)s", datefmt="%H:%M:%S", filename="wind.log", filemode="w")
log = logging.getLogger("wind")
torch.manual_seed(0)


def weather(n):
    x = torch.randn(n, 6)
    base = 0.4 * x[:, 0] + torch.sin(x[:, 1])
    gust = torch.rand(n) < 1.5e-5
    return x, torch.where(gust, base + 8 + torch.randn(n), base + 0.15 * torch.randn(n))


xv, yv = weather(2000)
net = MDN(6)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(1, 2601):
    x, y = weather(100)
    loss = nll(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        log.info("step %d nll %.5f", step, loss.item())
    if step % 200 == 0:
        with torch.no_grad():
            log.info("step %d dev/nll %.5f", step, nll(net(xv), yv).item())
