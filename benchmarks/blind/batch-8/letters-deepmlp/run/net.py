import torch.nn as nn


class DeepMLP(nn.Module):
    """Hausaufgabe 4: 10 versteckte Schichten"""

    def __init__(self, d_in, width=48, depth=10, n_out=8):
        super().__init__()
        dims = [d_in] + [width] * depth
        self.blocks = nn.ModuleList([nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:])])
        self.act = nn.Sigmoid()
        self.out = nn.Linear(width, n_out)

    def forward(self, x):
        x = x.flatten(1)
        for lin in self.blocks:
            x = self.act(lin(x))
        return self.out(x)
