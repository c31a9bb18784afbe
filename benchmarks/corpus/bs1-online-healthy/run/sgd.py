import sys
import numpy as np

# stream of 5 overlapping clusters, one hidden layer, plain SGD written out
rng = np.random.default_rng(8)
BATCH, LR, STEPS = 64, 0.3, 20000
d, h, K = 12, 20, 5
P = rng.normal(size=(K, d)) * 0.8
W1 = rng.normal(0, d ** -0.5, (d, h)); b1 = np.zeros(h)
W2 = rng.normal(0, h ** -0.5, (h, K)); b2 = np.zeros(K)
f = open("loss.txt", "w")
f.write("# step loss\n")
for t in range(STEPS):
    y = rng.integers(0, K, BATCH)
    x = P[y] + rng.normal(size=(BATCH, d))
    a = np.tanh(x @ W1 + b1)
    z = a @ W2 + b2
    z -= z.max(1, keepdims=True)
    p = np.exp(z); p /= p.sum(1, keepdims=True)
    f.write(f"{t} {-np.log(p[np.arange(BATCH), y]).mean():.4g}\n")
    p[np.arange(BATCH), y] -= 1
    g = p / BATCH
    da = (g @ W2.T) * (1 - a ** 2)
    W2 -= LR * a.T @ g
    b2 -= LR * g.sum(0)
    W1 -= LR * x.T @ da
    b1 -= LR * da.sum(0)
