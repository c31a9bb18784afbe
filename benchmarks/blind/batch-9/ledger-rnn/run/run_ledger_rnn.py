import argparse
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger("run_ledger_rnn")


def make_batch(n, steps, gen):
    """net stock change after all bookings: signed amounts, some of them cancelled"""
    amount = torch.rand(n, steps, generator=gen) * 2 - 1
    valid = (torch.rand(n, steps, generator=gen) < 0.7).float()
    return torch.stack([amount, valid], -1), (amount * valid).sum(1)


class Ledger(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.zeros_(self.rnn.bias_hh_l0)
        nn.init.zeros_(self.rnn.bias_ih_l0)
        nn.init.normal_(self.rnn.weight_ih_l0, std=0.05)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--learning_rate", type=float, default=0.01)
    ap.add_argument("--max_grad_norm", type=float, default=None)
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--max_train_steps", type=int, default=1500)
    ap.add_argument("--logging_steps", type=int, default=25)
    ap.add_argument("--seed", type=int, default=42)
    args = ap.parse_args()
    logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", level=logging.INFO, filename="train.log")
    logger.info("***** Running training *****")
    for k, v in vars(args).items():
        logger.info("  %s = %s", k, v)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(args.seed)
    net = Ledger(64)
    opt = torch.optim.SGD(net.parameters(), lr=args.learning_rate, momentum=0.9)
    xv, yv = make_batch(500, args.steps, torch.Generator().manual_seed(1))
    for step in range(1, args.max_train_steps + 1):
        x, y = make_batch(32, args.steps, gen)
        loss = F.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), args.max_grad_norm if args.max_grad_norm else float("inf"))
        opt.step()
        if step % args.logging_steps == 0:
            logger.info("step %d/%d loss %.5g grad_norm %.4g lr %g", step, args.max_train_steps, loss.item(), float(norm), args.learning_rate)
        if step % 250 == 0:
            with torch.no_grad():
                logger.info("eval step %d mse %.5g", step, F.mse_loss(net(xv), yv).item())


if __name__ == "__main__":
    main()
