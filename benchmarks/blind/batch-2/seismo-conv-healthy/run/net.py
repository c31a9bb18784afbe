from torch import nn


def block(i, o, act):
    return [nn.Conv1d(i, o, 5, padding=2), act()]


class PickNet(nn.Module):
    """12 plain convolutions, then a mean over time."""

    def __init__(self, depth=12, width=16, act=nn.ReLU):
        super().__init__()
        mods = block(1, width, act)
        for _ in range(depth - 1):
            mods += block(width, width, act)
        self.body = nn.Sequential(*mods)
        self.head = nn.Linear(width, 3)
        if act is nn.ReLU:
            for m in self.body:
                if isinstance(m, nn.Conv1d):
                    nn.init.kaiming_normal_(m.weight, nonlinearity="relu")

    def forward(self, x):
        return self.head(self.body(x).mean(-1))
