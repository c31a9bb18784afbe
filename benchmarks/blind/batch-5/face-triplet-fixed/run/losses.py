import torch


def pairwise_dist(z):
    """Euclidean distance matrix, (N, D) -> (N, N)."""
    sq = (z.unsqueeze(0) - z.unsqueeze(1)).pow(2).sum(-1)
    return (sq + 1e-8).sqrt()


def batch_hard(z, lab, margin=0.5):
    d = pairwise_dist(z)
    same = lab[:, None] == lab[None]
    pos = d.masked_fill(~same, 0.0).max(1).values
    neg = d.masked_fill(same, 1e4).min(1).values
    return torch.relu(pos - neg + margin).mean()
