import numpy as np

np.random.seed(3)
learning_rate = 2e-5
n_iter = 4000
n, d, k = 4000, 25, 6
W_true = np.random.randn(d, k)
X = np.random.randn(n, d)
y = (X @ W_true + np.random.gumbel(size=(n, k)) * 0.5).argmax(1)
Y = np.eye(k)[y]
Xtr, Ytr, Xte, yte = X[:3000], Y[:3000], X[3000:], y[3000:]
W = np.zeros((d, k))
b = np.zeros(k)
for i in range(n_iter):
    j = np.random.randint(0, 3000, 100)
    z = Xtr[j] @ W + b
    z -= z.max(1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(1, keepdims=True)
    g = (p - Ytr[j]) / 100
    W -= learning_rate * Xtr[j].T @ g
    b -= learning_rate * g.sum(0)
    if i % 40 == 0:
        cost = -np.log((p * Ytr[j]).sum(1)).mean()
        print("iteration", i, "cost", round(cost, 6), "gradnorm", round(float(np.linalg.norm(Xtr[j].T @ g)), 5))
print("test accuracy", ((Xte @ W + b).argmax(1) == yte).mean())
