import numpy as np
import torch
import torch.nn.functional as F
from net import DeepMLP

torch.manual_seed(3)
d = np.load("data/letters.npz")
x, y = torch.tensor(d["x"]), torch.tensor(d["y"])
model = DeepMLP(x[0].numel())
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(25):
    verlust, richtig = 0.0, 0
    for i in torch.randperm(len(x)).split(50):
        out = model(x[i])
        loss = F.cross_entropy(out, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        verlust += loss.item() * len(i)
        richtig += (out.argmax(1) == y[i]).sum().item()
    print(f"Epoche {epoch:2d}  Verlust {verlust / len(x):.4f}  Genauigkeit {richtig / len(x):.3f}")
    if epoch % 5 == 0:
        for n, p in model.named_parameters():
            if n.endswith("weight"):
                print(f"    {n:18s} |w| {p.norm().item():.3f}  |grad| {p.grad.norm().item():.2e}")
