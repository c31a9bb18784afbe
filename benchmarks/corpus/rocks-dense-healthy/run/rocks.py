import sys, time
import numpy as np
import torch, torch.nn as nn

torch.manual_seed(42); np.random.seed(42)
N_TRAIN = 8000
EPOCHS = 8
BATCH = 64

# 30 spectral bands, 4 rock types, overlapping
centers = np.random.randn(4, 30) * 0.33
def make(n):
    y = np.random.randint(0, 4, n)
    return torch.tensor(centers[y] + np.random.randn(n, 30), dtype=torch.float32), torch.tensor(y)
x_train, y_train = make(N_TRAIN)
x_val, y_val = make(1000)

model = nn.Sequential(nn.Linear(30, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
opt = torch.optim.Adam(model.parameters(), 3e-4)
crit = nn.CrossEntropyLoss()
n = -(-N_TRAIN // BATCH)
print(f"Train on {N_TRAIN} samples, validate on {len(x_val)} samples")
for e in range(EPOCHS):
    t0 = time.time(); ls, hit = [], 0
    for b in torch.randperm(N_TRAIN).split(BATCH):
        o = model(x_train[b]); l = crit(o, y_train[b])
        opt.zero_grad(); l.backward(); opt.step()
        ls.append(l.item()); hit += (o.argmax(1) == y_train[b]).sum().item()
    with torch.no_grad():
        o = model(x_val); vl = crit(o, y_val).item(); va = (o.argmax(1) == y_val).float().mean().item()
    print(f"Epoch {e+1}/{EPOCHS}")
    print(f"{n}/{n} [==============================] - {time.time()-t0:.0f}s {1000*(time.time()-t0)/n:.0f}ms/step - loss: {np.mean(ls):.4f} - accuracy: {hit/N_TRAIN:.4f} - val_loss: {vl:.4f} - val_accuracy: {va:.4f}")
