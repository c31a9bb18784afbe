import json, logging, torch, torch.nn as nn, torch.nn.functional as F
s = json.load(open('settings.json'))
logging.basicConfig(filename='ecg.log', filemode='w', level=logging.DEBUG, format='[%(asctime)s] %(message)s', datefmt='%d/%m %H:%M:%S')
torch.manual_seed(14)

def beats(n):
    t = torch.linspace(-1, 1, 80); y = torch.randint(4, (n,))
    w = torch.tensor([.05, .12, .05, .12])[y][:, None]; q = torch.tensor([-.3, -.3, .4, .4])[y][:, None]
    c = .2 * torch.randn(n, 1)
    return (torch.exp(-((t - c) / w) ** 2) + q * torch.exp(-((t - c - .3) / .1) ** 2) + .15 * torch.randn(n, 80))[:, None], y

net = nn.Sequential(nn.Conv1d(1, 12, 7, padding=3), nn.ReLU(), nn.MaxPool1d(4), nn.Conv1d(12, 24, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(96, 4))
opt = torch.optim.SGD(net.parameters(), lr=s['lr'], momentum=s['momentum'])
X, Y = beats(3000); XV, YV = beats(600)
for ep in range(s['epochs']):
    for k, b in enumerate(torch.randperm(3000).split(s['batch'])):
        loss = F.cross_entropy(net(X[b]), Y[b]); opt.zero_grad(); loss.backward()
        n = nn.utils.clip_grad_norm_(net.parameters(), s['clip_norm']); opt.step()
        if k % 6 == 0: logging.info(f'ep {ep} it {k} xent {loss.item():.4f} |g| {n:.4f}')
    with torch.no_grad(): o = net(XV)
    logging.info(f'ep {ep} VALID xent {F.cross_entropy(o, YV).item():.4f} acc {(o.argmax(1) == YV).float().mean().item():.3f}')
