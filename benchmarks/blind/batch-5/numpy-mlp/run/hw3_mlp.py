# HW3: two layer net from scratch, no frameworks
import numpy as np
np.random.seed(231)
data = np.load('data/glyphs.npz')
X = data['X'].reshape(-1, 144); Y = data['y']
Xtr, Ytr, Xte, Yte = X[:4000], Y[:4000], X[4000:], Y[4000:]
D, H, C = 144, 50, 10
W1 = np.zeros((D, H)); b1 = np.zeros(H)
W2 = np.zeros((H, C)); b2 = np.zeros(C)
lr = 0.1; reg = 1e-3
def forward(x):
    h = np.maximum(0, x @ W1 + b1)
    s = h @ W2 + b2
    s = s - s.max(1, keepdims=True)
    p = np.exp(s); p = p / p.sum(1, keepdims=True)
    return h, p
for it in range(1500):
    idx = np.random.choice(len(Xtr), 100)
    x, t = Xtr[idx], Ytr[idx]
    h, p = forward(x)
    loss = -np.log(p[range(100), t] + 1e-12).mean()
    ds = p.copy(); ds[range(100), t] -= 1; ds /= 100
    dW2 = h.T @ ds + reg * W2; db2 = ds.sum(0)
    dh = ds @ W2.T; dh[h <= 0] = 0
    dW1 = x.T @ dh + reg * W1; db1 = dh.sum(0)
    W1 -= lr * dW1; b1 -= lr * db1; W2 -= lr * dW2; b2 -= lr * db2
    if it % 50 == 0:
        _, pt = forward(Xte)
        print('iteration %d / 1500: loss %f  test acc %.3f  test loss %f' % (it, loss, (pt.argmax(1) == Yte).mean(), -np.log(pt[range(len(Yte)), Yte] + 1e-12).mean()))
