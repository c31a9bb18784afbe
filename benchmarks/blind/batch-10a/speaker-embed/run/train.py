import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", filename="train.log", filemode="w")
torch.manual_seed(13)
DTYPE = torch.float16
SPEAKERS, FRAMES, MELS = 20, 10, 24

voices = torch.randn(SPEAKERS, MELS)
spk = torch.randint(SPEAKERS, (3000,))
feats = voices[spk][:, None] + torch.randn(3000, FRAMES, MELS)


class XVector(nn.Module):
    def __init__(self):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(MELS, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU())
        self.head = nn.Linear(128, SPEAKERS)

    def forward(self, x):
        h = self.frame(x)
        return self.head(torch.cat([h.mean(1), h.amax(1)], -1))


model = XVector().to(DTYPE)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
logging.info("model dtype %s, %d parameters", DTYPE, sum(p.numel() for p in model.parameters()))
step = 0
for epoch in range(6):
    for idx in torch.randperm(2600).split(64):
        logits = model(feats[idx].to(DTYPE))
        loss = F.cross_entropy(logits.float(), spk[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            logging.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
        step += 1
    with torch.no_grad():
        out = model(feats[2600:].to(DTYPE)).float()
    logging.info("epoch %d valid loss %.4f eer_proxy_acc %.3f", epoch, F.cross_entropy(out, spk[2600:]).item(), (out.argmax(1) == spk[2600:]).float().mean().item())
