import torch


def euclidean(u, v):
    return torch.sqrt(((u - v) ** 2).sum(1))


def contrastive_loss(u, v, same, margin=2.0):
    d = euclidean(u, v)
    pos = same * d ** 2
    neg = (1 - same) * torch.clamp(margin - d, min=0) ** 2
    return (pos + neg).mean()
