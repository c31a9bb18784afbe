import torch


def si_sdr(est, ref):
    """Scale-invariant SDR in dB, one value per utterance. est, ref: (batch, samples)."""
    est = est - est.mean(-1, keepdim=True)
    ref = ref - ref.mean(-1, keepdim=True)
    alpha = (est * ref).sum(-1, keepdim=True) / ref.pow(2).sum(-1, keepdim=True)
    target = alpha * ref
    noise = est - target
    return 10 * torch.log10(target.pow(2).sum(-1) / noise.pow(2).sum(-1))


def enhancement_loss(est, ref):
    return -si_sdr(est, ref).mean()
