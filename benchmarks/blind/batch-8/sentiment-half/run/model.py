import torch
import torch.nn as nn


class BagModel(nn.Module):
    def __init__(self, vocab=500, dim=48, classes=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.fc1 = nn.Linear(dim, 64)
        self.fc2 = nn.Linear(64, classes)

    def forward(self, tok):
        h = self.emb(tok).mean(1)
        return self.fc2(torch.relu(self.fc1(h)))
