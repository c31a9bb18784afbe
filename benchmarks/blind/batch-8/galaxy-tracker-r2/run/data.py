import numpy as np
import torch


def load(split):
    z = np.load(f"data/{split}.npz")
    return {k: torch.tensor(z[k]) for k in z.files}


def batches(d, bs, gen):
    n = len(d["feat"])
    for idx in torch.randperm(n, generator=gen).split(bs):
        yield {k: v[idx] for k, v in d.items()}
