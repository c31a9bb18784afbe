import torch.nn as nn


def weights_init(m):
    if isinstance(m, (nn.Linear, nn.Conv2d)):
        nn.init.normal_(m.weight, 0.0, 1.0)
        nn.init.zeros_(m.bias)


def leafnet(out=6):
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 9, 64), nn.ReLU(), nn.Linear(64, out))
    net.apply(weights_init)
    return net
