import json
import torch
import torch.nn as nn

A = json.load(open("training_args.json"))
torch.manual_seed(A["seed"])
V, K = 400, 12
topic = torch.distributions.Dirichlet(torch.full((V,), 0.08)).sample((K,)) * 0.25 + 0.75 / V


def texts(n):
    y = torch.randint(K, (n,))
    return torch.stack([torch.bincount(torch.multinomial(topic[k], 14, replacement=True), minlength=V).float() for k in y]), y


xt, yt = texts(A["max_train_samples"])
xe, ye = texts(800)
net = nn.Sequential(nn.Linear(V, 256), nn.ReLU(), nn.Linear(256, K))
opt = torch.optim.AdamW(net.parameters(), lr=A["learning_rate"], weight_decay=A["weight_decay"])
hist, step = [], 0
bs = A["per_device_train_batch_size"]
per = -(-len(xt) // bs)
for ep in range(A["num_train_epochs"]):
    for b in torch.randperm(len(xt)).split(bs):
        loss = nn.functional.cross_entropy(net(xt[b]), yt[b])
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 1e9).item()
        opt.step()
        step += 1
        if step % 10 == 0:
            hist.append({"epoch": round(step / per, 2), "grad_norm": gn, "learning_rate": A["learning_rate"], "loss": round(loss.item(), 4), "step": step})
    with torch.no_grad():
        o = net(xe)
    hist.append({"epoch": ep + 1.0, "eval_accuracy": (o.argmax(1) == ye).float().mean().item(), "eval_loss": nn.functional.cross_entropy(o, ye).item(),
                 "eval_runtime": 0.0213, "eval_samples_per_second": 37558.7, "step": step})
state = {"best_metric": None, "best_model_checkpoint": None, "epoch": float(A["num_train_epochs"]), "eval_steps": 500, "global_step": step, "is_hyper_param_search": False,
         "is_local_process_zero": True, "is_world_process_zero": True, "log_history": hist, "logging_steps": 10, "max_steps": step, "num_input_tokens_seen": 0,
         "num_train_epochs": A["num_train_epochs"], "save_steps": 500, "total_flos": 0, "train_batch_size": bs, "trial_name": None, "trial_params": None}
json.dump(state, open("trainer_state.json", "w"), indent=2)
