"""Names that stand for the same thing everywhere: metrics, optimizers, log prefixes. Each fact stands here once."""
