import torch
import torch.nn.functional as F


def heatmap_loss(pred, gt):
    return F.binary_cross_entropy_with_logits(pred, gt)


def offset_loss(pred, gt, visible):
    """L1 over the visible objects only"""
    err = (pred - gt).abs().sum(-1)
    return (err * visible).sum() / visible.sum()


def size_loss(pred, gt, visible):
    err = (pred - gt).pow(2).sum(-1)
    return (err * visible).sum() / (visible.sum() + 1e-6)
