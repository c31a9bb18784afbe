import configparser, logging, sys
import torch
from torch import nn

logging.basicConfig(filename="irnn.log", filemode="w", level=logging.INFO, format="[%(asctime)s][%(levelname).1s] %(message)s", datefmt="%d/%m %H:%M:%S")
c = configparser.ConfigParser(); c.read("conf.ini")
torch.manual_seed(31); torch.set_num_threads(1)
H, T = c.getint("model", "units"), 60


def sample(n):
    v = torch.randn(n, T, 1)
    return v, v[:, :, 0].sum(1) / 4


rnn, head = nn.RNN(1, H, nonlinearity="relu", batch_first=True), nn.Linear(H, 1)
nn.init.eye_(rnn.weight_hh_l0); rnn.weight_hh_l0.data *= 0.8; nn.init.zeros_(rnn.bias_hh_l0); nn.init.zeros_(rnn.bias_ih_l0); nn.init.normal_(rnn.weight_ih_l0, std=0.1)
ps = list(rnn.parameters()) + list(head.parameters())
opt = torch.optim.SGD(ps, lr=c.getfloat("train", "lr"), momentum=0.9)
clip = c.getfloat("train", "clip")
logging.info("units=%d T=%d", H, T)
for s in range(c.getint("train", "steps")):
    x, y = sample(c.getint("train", "batch"))
    loss = nn.functional.mse_loss(head(rnn(x)[0][:, -1])[:, 0], y)
    opt.zero_grad(); loss.backward()
    gn = torch.norm(torch.stack([p.grad.norm() for p in ps]))
    if clip > 0:
        nn.utils.clip_grad_norm_(ps, clip)
    opt.step()
    if s % 2 == 0:
        logging.info("it=%d mse=%.5g |g|=%.4g", s, loss.item(), gn.item())
