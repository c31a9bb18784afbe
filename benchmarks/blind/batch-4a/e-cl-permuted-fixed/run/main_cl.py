import csv, yaml, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
c = yaml.safe_load(open("cl.yaml")); torch.manual_seed(c["seed"])
g = torch.Generator().manual_seed(40)
base = torch.randn(10, 64, generator=g)
perms = [torch.randperm(64, generator=g) for _ in range(c["tasks"])]


def task(k, n):
    y = torch.randint(0, 10, (n,), generator=g)
    return (base[y] + 1.0 * torch.randn(n, 64, generator=g))[:, perms[k]], y


tr = [task(k, 3000) for k in range(c["tasks"])]; te = [task(k, 500) for k in range(c["tasks"])]
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)); opt = torch.optim.SGD(net.parameters(), lr=c["lr"], momentum=0.9)
w = csv.writer(open("accs.csv", "w")); w.writerow(["global_epoch", "current_task", "train_loss"] + [f"acc_t{k}" for k in range(c["tasks"])])
mem = []; ge = 0
for k in range(c["tasks"]):
    X, Y = tr[k]
    for e in range(c["epochs_per_task"]):
        L = 0
        for i in torch.randperm(3000).split(50):
            x, y = X[i], Y[i]
            if mem and c["replay_per_batch"]:
                mx, my = torch.cat([m[0] for m in mem]), torch.cat([m[1] for m in mem]); j = torch.randint(0, len(my), (c["replay_per_batch"],))
                x, y = torch.cat([x, mx[j]]), torch.cat([y, my[j]])
            l = F.cross_entropy(net(x), y); opt.zero_grad(); l.backward(); opt.step(); L += l.item() / 60
        with torch.no_grad(): a = [(net(x).argmax(1) == y).float().mean().item() for x, y in te]
        w.writerow([ge, k, f"{L:.4f}"] + [f"{v:.3f}" for v in a]); ge += 1
    mem.append((X[:1500], Y[:1500]))
