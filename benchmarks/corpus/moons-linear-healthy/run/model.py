import torch.nn as nn


def make_model(hidden):
    if hidden == 0:
        return nn.Linear(2, 3)
    return nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 3))
