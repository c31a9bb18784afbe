"""Two-layer network by hand, numpy only (course exercise 3)."""
import numpy as np

rng = np.random.default_rng(1)


class Net:
    def __init__(self, d, h, k):
        self.W1 = rng.normal(0, d ** -0.5, (d, h))
        self.b1 = np.zeros(h)
        self.W2 = rng.normal(0, h ** -0.5, (h, k))
        self.b2 = np.zeros(k)

    def forward(self, X):
        self.X = X
        self.A = np.maximum(0, X @ self.W1 + self.b1)
        Z = self.A @ self.W2 + self.b2
        Z = Z - Z.max(1, keepdims=True)
        self.P = np.exp(Z) / np.exp(Z).sum(1, keepdims=True)
        return self.P

    def backward(self, y, lr):
        n = len(y)
        G = self.P.copy()
        G[np.arange(n), y] -= 1
        G /= n
        dA = (G @ self.W2.T) * (self.A > 0)
        self.W2 -= lr * self.A.T @ G
        self.b2 -= lr * G.sum(0)
        self.W1 -= lr * self.X.T @ dA
        self.b1 -= lr * dA.sum(0)


proto = rng.normal(size=(10, 64))


def data(n):
    y = rng.integers(0, 10, n)
    return proto[y] + 0.7 * rng.normal(size=(n, 64)), y


net = Net(64, 50, 10)
Xv, yv = data(1000)
for epoch in range(1, 31):
    costs = []
    for _ in range(50):
        X, y = data(100)
        P = net.forward(X)
        costs.append(-np.log(P[np.arange(100), y] + 1e-12).mean())
        net.backward(y, lr=0.1)
    acc = (net.forward(Xv).argmax(1) == yv).mean()
    print(f"Epoch {epoch}: cost={np.mean(costs):.4f} val_accuracy={acc:.3f}")
