"""8x8 pixel-art sprite GAN for procedurally generated item icons."""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)
nz, batch = 16, 64


def sprites(n):
    img = -torch.ones(n, 8, 8)
    half = torch.rand(n, 6, 3) < torch.linspace(0.2, 0.95, 3)
    img[:, 1:7, 1:4] = half.float() * 2 - 1
    img[:, :, 4:] = img[:, :, :4].flip(2)
    return img.flatten(1)


netG = nn.Sequential(nn.Linear(nz, 32), nn.ReLU(), nn.Linear(32, 64), nn.Tanh())
netD = nn.Sequential(nn.Linear(64, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
optG = torch.optim.Adam(netG.parameters(), lr=5e-5, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
real_label, fake_label = torch.ones(batch), torch.zeros(batch)
for epoch in range(10):
    for i in range(100):
        netD.zero_grad()
        out_real = netD(sprites(batch)).squeeze(1)
        fake = netG(torch.randn(batch, nz))
        out_fake = netD(fake.detach()).squeeze(1)
        errD = bce(out_real, real_label) + bce(out_fake, fake_label)
        errD.backward()
        optD.step()
        netG.zero_grad()
        out = netD(fake).squeeze(1)
        errG = bce(out, real_label)
        errG.backward()
        optG.step()
        if i % 25 == 0:
            print("[%d/10][%d/100] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f / %.4f" % (epoch, i, errD.item(), errG.item(), out_real.sigmoid().mean(), out_fake.sigmoid().mean(), out.sigmoid().mean()))
