"""The one home of names: metrics, settings, optimizers, error texts, file magic, kinds of trouble, log prefixes."""
