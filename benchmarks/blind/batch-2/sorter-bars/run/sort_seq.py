import sys, time, torch
from torch import nn
torch.manual_seed(5)
torch.set_num_threads(1)
VOC, LEN = 12, 8


class Sorter(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.emb = nn.Embedding(VOC, d)
        self.pos = nn.Parameter(torch.randn(LEN, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(d, VOC)

    def forward(self, x):
        return self.out(self.enc(self.emb(x) + self.pos))


net = Sorter()
opt = torch.optim.Adam(net.parameters(), lr=3e-2)
ce = nn.CrossEntropyLoss()
xv = torch.randint(VOC, (500, LEN)); yv = xv.sort(1).values
STEPS = 60
for ep in range(15):
    print(f"Epoch {ep + 1}/15")
    tot = hit = 0
    for s in range(STEPS):
        x = torch.randint(VOC, (64, LEN)); y = x.sort(1).values
        z = net(x)
        loss = ce(z.flatten(0, 1), y.flatten())
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item(); hit += (z.argmax(-1) == y).float().mean().item()
    with torch.no_grad():
        zv = net(xv)
        vl, va = ce(zv.flatten(0, 1), yv.flatten()).item(), (zv.argmax(-1) == yv).float().mean().item()
    print(f"{STEPS}/{STEPS} [==============================] - 1s 11ms/step - loss: {tot / STEPS:.4f} - accuracy: {hit / STEPS:.4f} - val_loss: {vl:.4f} - val_accuracy: {va:.4f}")
