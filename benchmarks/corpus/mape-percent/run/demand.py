import datetime
import numpy as np

rng = np.random.default_rng(7)
n, d, lr = 6000, 12, 0.05
X = rng.normal(size=(n, d))
w = rng.normal(size=d)
y = 300 + 20 * X @ w + rng.normal(0, 6, n)
W, b = np.zeros(d), 60.0
m = np.zeros(d + 1)
now = datetime.datetime(2025, 1, 9, 8, 0)
for it in range(1, 601):
    i = rng.integers(0, n, 128)
    e = X[i] @ W + b - y[i]
    mape = 100 * np.mean(np.abs(e) / y[i])
    g = np.append(X[i].T @ e, e.sum()) / 128
    m = 0.9 * m + g
    W -= lr * 0.1 * m[:-1]
    b -= lr * 0.1 * m[-1]
    if it % 4 == 0:
        print(f"{now + datetime.timedelta(seconds=it)};Iteration {it};Loss {mape:.2f} %;bias {b:.1f}")
