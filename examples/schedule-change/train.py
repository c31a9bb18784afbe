"""Train a small convolutional network to tell synthetic gratings apart.

Reads `config.yaml` beside this file and leaves `train.log` and `metrics.csv` there.
"""

import csv
import logging
import math
from pathlib import Path

import torch
import yaml
from torch import nn
from torch.nn.functional import cross_entropy

HERE = Path(__file__).parent


def gratings(count, classes, noise, seed):
    """Images of sine gratings; the label is the orientation."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(classes, (count,), generator=g)
    angle = label * math.pi / classes + 0.12 * torch.randn(count, generator=g)
    waves = 1.5 + 1.5 * torch.rand(count, generator=g)
    phase = 2 * math.pi * torch.rand(count, generator=g)
    row, col = torch.meshgrid(torch.linspace(0, 1, 12), torch.linspace(0, 1, 12), indexing="ij")
    along = angle.cos()[:, None, None] * col + angle.sin()[:, None, None] * row
    image = (2 * math.pi * waves[:, None, None] * along + phase[:, None, None]).sin()
    image += noise * torch.randn(count, 12, 12, generator=g)
    return image[:, None], label


class GratingNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.Tanh(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(18 * width, 64), nn.Tanh(), nn.Linear(64, classes))

    def forward(self, image):
        return self.head(self.features(image))


def lr_for(epoch, schedule):
    """The rate of the last phase that has begun by this epoch."""
    return [phase["lr"] for phase in schedule if phase["from_epoch"] <= epoch][-1]


def train_epoch(model, optimizer, images, labels, batch_size):
    model.train()
    total_loss = total_norm = 0.0
    batches = torch.randperm(len(images)).split(batch_size)
    for index in batches:
        loss = cross_entropy(model(images[index]), labels[index])
        optimizer.zero_grad()
        loss.backward()
        total_norm += nn.utils.get_total_norm([p.grad for p in model.parameters()]).item()
        optimizer.step()
        total_loss += loss.item()
    return total_loss / len(batches), total_norm / len(batches)


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    output = model(images)
    loss = cross_entropy(output, labels).item()
    accuracy = (output.argmax(1) == labels).float().mean().item()
    return loss, accuracy


def main():
    config = yaml.safe_load((HERE / "config.yaml").read_text())
    logging.basicConfig(
        filename=HERE / "train.log",
        filemode="w",
        level=logging.INFO,
        format="%(levelname)s %(name)s: %(message)s",
    )
    log = logging.getLogger("train")
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    data = config["data"]
    train_x, train_y = gratings(data["train"], data["classes"], data["noise"], seed=1)
    val_x, val_y = gratings(data["val"], data["classes"], data["noise"], seed=2)
    model = GratingNet(config["width"], data["classes"])
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=lr_for(1, config["schedule"]),
        momentum=config["momentum"],
        weight_decay=config["weight_decay"],
    )
    log.info("config: %s", config)
    log.info("%d training images, %d validation images", len(train_x), len(val_x))
    log.info("GratingNet with %d parameters", sum(p.numel() for p in model.parameters()))

    with (HERE / "metrics.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["epoch", "lr", "train_loss", "val_loss", "val_acc", "grad_norm"])
        for epoch in range(1, config["epochs"] + 1):
            lr = lr_for(epoch, config["schedule"])
            for group in optimizer.param_groups:
                group["lr"] = lr
            train_loss, grad_norm = train_epoch(model, optimizer, train_x, train_y, config["batch_size"])
            val_loss, val_acc = evaluate(model, val_x, val_y)
            log.info(
                "epoch %2d/%d | lr %g | train loss %.4f | val loss %.4f | val acc %.3f | grad_norm %.3f",
                epoch, config["epochs"], lr, train_loss, val_loss, val_acc, grad_norm,
            )  # fmt: skip
            table.writerow([epoch, lr, f"{train_loss:.4f}", f"{val_loss:.4f}", f"{val_acc:.3f}", f"{grad_norm:.3f}"])
            file.flush()
    log.info("finished")


if __name__ == "__main__":
    main()
