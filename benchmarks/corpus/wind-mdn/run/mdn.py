import math
import torch
import torch.nn as nn


class MDN(nn.Module):
    """Mixture density head: wind speed given weather features."""

    def __init__(self, d_in, k=5, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi, self.mu, self.ls = nn.Linear(width, k), nn.Linear(width, k), nn.Linear(width, k)

    def forward(self, x):
        h = self.body(x)
        return torch.softmax(self.pi(h), -1), self.mu(h), self.ls(h)


def nll(params, y):
    pi, mu, ls = params
    sigma = torch.exp(ls)
    z = (y[:, None] - mu) / sigma
    dens = torch.exp(-0.5 * z ** 2) / (sigma * math.sqrt(2 * math.pi))
    return -torch.log((pi * dens).sum(-1)).mean()
