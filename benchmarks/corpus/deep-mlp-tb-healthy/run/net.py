import torch.nn as nn

DEPTH, WIDTH = 12, 48


def build(d_in=16, d_out=6):
    layers, d = [], d_in
    for _ in range(DEPTH):
        layers += [nn.Linear(d, WIDTH), nn.ReLU()]
        d = WIDTH
    for m in layers[::2]:
        nn.init.kaiming_normal_(m.weight)
    return nn.Sequential(*layers, nn.Linear(d, d_out))
