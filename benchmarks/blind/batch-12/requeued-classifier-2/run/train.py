import os, sys, time, torch, torch.nn as nn, torch.nn.functional as F

torch.set_num_threads(1)
CKPT = "ckpt.pt"
EPOCHS, BASE_LR = 30, 0.25


def build_data():
    g = torch.Generator().manual_seed(77)
    proto = torch.randn(10, 60, generator=g)
    y = torch.randint(0, 10, (21000,), generator=g)
    x = 0.42 * proto[y] + torch.randn(21000, 60, generator=g)
    return x[:20000], y[:20000], x[20000:], y[20000:]


def main(stop_at):
    xt, yt, xv, yv = build_data()
    torch.manual_seed(5 + stop_at)
    net = nn.Sequential(nn.Linear(60, 100), nn.BatchNorm1d(100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 10))
    opt = torch.optim.SGD(net.parameters(), lr=BASE_LR, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.8)
    start = 0
    if os.path.exists(CKPT):
        state = torch.load(CKPT)
        net.load_state_dict(state["model"])
        opt.load_state_dict(state["opt"])
        sched.load_state_dict(state["sched"])
        start = state["epoch"] + 1
        print(f"=> loaded checkpoint '{CKPT}' (epoch {state['epoch']})", flush=True)
    for epoch in range(start, EPOCHS):
        if epoch == stop_at:
            print("slurmstepd: *** job reached its time slot, requeued ***", flush=True)
            return
        net.train()
        tot = n = 0
        lr = opt.param_groups[0]["lr"]
        for i in torch.randperm(20000).split(200):
            loss = F.cross_entropy(net(xt[i]), yt[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot, n = tot + loss.item(), n + 1
        sched.step()
        net.eval()
        with torch.no_grad():
            out = net(xv)
        print(f"epoch {epoch:2d}  lr {lr:.6f}  train {tot / n:.4f}  valid {F.cross_entropy(out, yv).item():.4f}  top1 {(out.argmax(1) == yv).float().mean().item() * 100:.2f}", flush=True)
        torch.save({"model": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": epoch}, CKPT)


if __name__ == "__main__":
    main(int(os.environ.get("STOP_AT", "-1")))
