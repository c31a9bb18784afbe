model = dict(
    type='StaticUnconditionalGAN',
    generator=dict(type='MLPGenerator', in_dim=8, width=64, out_dim=12),
    discriminator=dict(type='MLPDiscriminator', in_dim=12, width=64),
    gan_loss=dict(type='GANLoss', gan_type='vanilla'))
train_cfg = dict(disc_steps=1)
optimizer = dict(
    generator=dict(type='Adam', lr=0.0004, betas=(0.5, 0.999)),
    discriminator=dict(type='Adam', lr=0.0004, betas=(0.5, 0.999)))
data = dict(samples_per_gpu=64, workers_per_gpu=2)
total_iters = 1500
