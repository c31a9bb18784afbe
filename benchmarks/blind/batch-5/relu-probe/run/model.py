import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, n_in=16, width=64, n_out=5):
        super().__init__()
        self.fc1 = nn.Linear(n_in, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, n_out)
        for fc in (self.fc1, self.fc2):
            nn.init.kaiming_uniform_(fc.weight, nonlinearity="relu")
            nn.init.constant_(fc.bias, -8.0)

    def forward(self, x, probe=None):
        a = torch.relu(self.fc1(x))
        b = torch.relu(self.fc2(a))
        if probe is not None:
            probe["fc1_never_fires"] = (a.amax(0) == 0).float().mean().item()
            probe["fc2_never_fires"] = (b.amax(0) == 0).float().mean().item()
        return self.out(b)
