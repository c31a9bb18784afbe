import numpy as np, torch, torch.nn as nn

torch.manual_seed(999)
print("Random Seed:  999")
d = np.load("data/plants8.npz")
real = (torch.tensor(d["x_train"]).float() / 127.5 - 1).mean(1, keepdim=True)[:, :, 2:18, 2:18]
nz, ngf, ndf, num_epochs, bs = 16, 24, 24, 6, 64
lrD, lrG, beta1 = 0.0008, 0.000002, 0.5


def weights_init(m):
    if "Conv" in m.__class__.__name__:
        nn.init.normal_(m.weight.data, 0.0, 0.02)


netG = nn.Sequential(nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
                     nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1), nn.BatchNorm2d(ngf), nn.ReLU(True),
                     nn.ConvTranspose2d(ngf, 1, 4, 2, 1), nn.Tanh())
netD = nn.Sequential(nn.Conv2d(1, ndf, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(ndf * 2, 1, 4, 1, 0))
netG.apply(weights_init)
netD.apply(weights_init)
optD = torch.optim.Adam(netD.parameters(), lr=lrD, betas=(beta1, 0.999))
optG = torch.optim.Adam(netG.parameters(), lr=lrG, betas=(beta1, 0.999))
bce = nn.BCEWithLogitsLoss()
print("Starting Training Loop...")
for epoch in range(num_epochs):
    for i, idx in enumerate(torch.randperm(len(real)).split(bs)):
        x = real[idx]
        n = len(x)
        netD.zero_grad()
        outr = netD(x).view(-1)
        fake = netG(torch.randn(n, nz, 1, 1))
        outf = netD(fake.detach()).view(-1)
        errD = bce(outr, torch.full((n,), 1.0)) + bce(outf, torch.zeros(n))
        errD.backward()
        optD.step()
        netG.zero_grad()
        outg = netD(fake).view(-1)
        errG = bce(outg, torch.ones(n))
        errG.backward()
        optG.step()
        if i % 10 == 0:
            print("[%d/%d][%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f / %.4f" % (epoch, num_epochs, i, 50, errD.item(), errG.item(), outr.sigmoid().mean(), outf.sigmoid().mean(), outg.sigmoid().mean()))
