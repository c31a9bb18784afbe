"""Explicit ratings (1-5) of playlists x listeners, biased matrix factorisation, plain mini-batch SGD in numpy."""
import json
import numpy as np

P = json.load(open("params.json"))
rng = np.random.default_rng(P["seed"])
n_u, n_i, k = 900, 700, P["factors"]
tu, ti = rng.normal(0, .55, (n_u, 4)), rng.normal(0, .9, (n_i, 4))
bu, bi = rng.normal(0, .3, n_u), rng.normal(0, .4, n_i)
u = rng.integers(0, n_u, 60000)
i = rng.integers(0, n_i, 60000)
r = np.clip(3.4 + bu[u] + bi[i] + (tu[u] * ti[i]).sum(1) + rng.normal(0, .35, u.size), 1, 5)
cut = 54000

U = rng.normal(0, .1, (n_u, k)).astype(np.float32)
V = rng.normal(0, .1, (n_i, k)).astype(np.float32)
cu, ci = np.zeros(n_u, np.float32), np.zeros(n_i, np.float32)
mu = np.float32(r[:cut].mean())


def predict(a, b):
    return mu + cu[a] + ci[b] + (U[a] * V[b]).sum(1)


out = open("fit.jsonl", "w")
step = 0
for ep in range(P["epochs"]):
    order = rng.permutation(cut)
    for s in range(0, cut, P["batch"]):
        b = order[s:s + P["batch"]]
        e = (predict(u[b], i[b]) - r[b]).astype(np.float32)
        gu, gv = e[:, None] * V[i[b]], e[:, None] * U[u[b]]
        np.add.at(U, u[b], -P["eta"] * (gu + P["l2"] * U[u[b]]))
        np.add.at(V, i[b], -P["eta"] * (gv + P["l2"] * V[i[b]]))
        np.add.at(cu, u[b], -P["eta"] * e)
        np.add.at(ci, i[b], -P["eta"] * e)
        if step % P["log_every"] == 0:
            out.write(json.dumps({"t": step, "pass": ep, "sq_err": round(float((e ** 2).mean()), 5)}) + "\n")
        step += 1
    rm = float(np.sqrt(((predict(u[cut:], i[cut:]) - r[cut:]) ** 2).mean()))
    out.write(json.dumps({"t": step, "pass": ep, "heldout_rmse": round(rm, 5)}) + "\n")
