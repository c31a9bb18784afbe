import torch.nn as nn

DEPTH, WIDTH = 12, 48


def build(d_in=16, d_out=6):
    layers, d = [], d_in
    for _ in range(DEPTH):
        layers += [nn.Linear(d, WIDTH), nn.Sigmoid()]
        d = WIDTH
    return nn.Sequential(*layers, nn.Linear(d, d_out))
