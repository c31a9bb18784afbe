import torch

_g = torch.Generator().manual_seed(5)
_speakers = torch.randn(30, 20, generator=_g)
_clips = _speakers.repeat_interleave(4000, 0) + 0.5 * torch.randn(120000, 20, generator=_g)


def pairs(n, step):
    """half positive pairs (same speaker), half negative pairs"""
    g = torch.Generator().manual_seed(step)
    i = torch.randint(120000, (n,), generator=g)
    same = torch.arange(n) < n // 2
    j_same = (i // 4000) * 4000 + torch.randint(4000, (n,), generator=g)
    j_diff = torch.randint(120000, (n,), generator=g)
    j = torch.where(same, j_same, j_diff)
    return _clips[i], _clips[j], same.float()
