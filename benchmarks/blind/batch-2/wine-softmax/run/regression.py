import csv, torch
torch.manual_seed(40)
torch.set_num_threads(1)

LERNRATE = 20.0
EPOCHEN = 260

# 13 Messwerte je Probe, standardisiert; 4 Lagen
n, d, k = 1400, 13, 4
zentren = torch.randn(k, d) * 0.5
y = torch.randint(k, (n,))
mix = torch.randn(d, d) * 0.45 + torch.eye(d)
x = (zentren[y] + torch.randn(n, d)) @ mix
x = (x - x.mean(0)) / x.std(0)
xt, yt, xv, yv = x[:1000], y[:1000], x[1000:], y[1000:]

W = torch.zeros(d, k, requires_grad=True)
b = torch.zeros(k, requires_grad=True)
opt = torch.optim.SGD([W, b], lr=LERNRATE, momentum=0.9)

with open("verlauf.csv", "w", newline="") as f:
    w = csv.writer(f, delimiter=";")
    w.writerow(["epoche", "verlust", "genauigkeit", "val_verlust", "val_genauigkeit"])
    for ep in range(1, EPOCHEN + 1):
        z = xt @ W + b
        verlust = torch.nn.functional.cross_entropy(z, yt)
        opt.zero_grad()
        verlust.backward()
        opt.step()
        with torch.no_grad():
            zv = xv @ W + b
            w.writerow([ep, f"{verlust.item():.4f}", f"{(z.argmax(1) == yt).float().mean():.3f}",
                        f"{torch.nn.functional.cross_entropy(zv, yv):.4f}", f"{(zv.argmax(1) == yv).float().mean():.3f}"])
