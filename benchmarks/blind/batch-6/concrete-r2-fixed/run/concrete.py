import torch, torch.nn as nn, torch.nn.functional as F
from mydata import mix
torch.manual_seed(1)
X, Y = mix(5000, seed=1); Xv, Yv = mix(1000, seed=2)
H = 48
net = nn.Sequential(nn.Linear(6, H), nn.Tanh(), nn.Linear(H, 1))
print(f"""Model: "concrete_mlp"
_________________________________________________________________
 Layer (type)                Output Shape              Param #
=================================================================
 dense (Dense)               (None, {H})                 {7*H}
 dense_1 (Dense)             (None, 1)                 {H+1}
=================================================================
Total params: {8*H+1}
""")
opt = torch.optim.Adam(net.parameters(), lr=0.01)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 40)
for ep in range(40):
    t = 0
    for i in torch.randperm(5000).split(64):
        l = F.mse_loss(net(X[i]).squeeze(1), Y[i]); opt.zero_grad(); l.backward(); opt.step(); t += l.item() * len(i) / 5000
    sch.step()
    with torch.no_grad(): v = F.mse_loss(net(Xv).squeeze(1), Yv).item()
    print(f"Epoch {ep+1}/40\n79/79 - 0s - loss: {t:.4f} - r2: {1-t/Y.var().item():.4f} - val_loss: {v:.4f} - val_r2: {1-v/Yv.var().item():.4f}")
