import logging, torch, torch.nn as nn
logging.basicConfig(filename="critic.log", level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
log = logging.getLogger("critic")
torch.manual_seed(3)

def measured(n):
    return torch.randn(n, 6) * 0.8 + torch.tensor([.5, 0, -.3, .2, 0, .4])
def simulated(n):
    return torch.randn(n, 6)

f = nn.Sequential(nn.Linear(6, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt = torch.optim.SGD(f.parameters(), lr=0.02)
LAMBDA_GP = 5.0
for step in range(2000):
    a, b = measured(128), simulated(128)
    gap = f(a).mean() - f(b).mean()
    u = torch.rand(128, 1)
    z = (u * a + (1 - u) * b).requires_grad_(True)
    slope = torch.autograd.grad(f(z).sum(), z, create_graph=True)[0].norm(dim=1)
    loss = -gap + LAMBDA_GP * ((slope - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    gnorm = torch.stack([p.grad.norm() for p in f.parameters() if p.grad is not None]).norm()
    opt.step()
    if step % 20 == 0:
        log.info("step %d loss %.5g W-gap %.5g |df/dx| %.4g gnorm %.4g", step, loss.item(), gap.item(), slope.mean().item(), gnorm.item())
