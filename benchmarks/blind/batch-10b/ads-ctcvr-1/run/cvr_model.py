import torch
from torch import nn


class CVR(nn.Module):
    """click -> conversion; both heads share the embedding table"""

    def __init__(self, n_items=200, dim=16):
        super().__init__()
        self.emb = nn.Embedding(n_items, dim)
        self.ctr = nn.Sequential(nn.Linear(dim + 8, 32), nn.ReLU(), nn.Linear(32, 1))
        self.cvr = nn.Sequential(nn.Linear(dim + 8, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, item, feat):
        z = torch.cat([self.emb(item), feat], 1)
        return torch.sigmoid(self.ctr(z)).squeeze(1), torch.sigmoid(self.cvr(z)).squeeze(1)


def joint_loss(p_click, p_conv, click, conv):
    p_ctcvr = p_click * p_conv
    l_click = -(click * torch.log(p_click) + (1 - click) * torch.log(1 - p_click)).mean()
    l_conv = -(conv * torch.log(p_ctcvr) + (1 - conv) * torch.log(1 - p_ctcvr)).mean()
    return l_click + l_conv, l_click, l_conv
