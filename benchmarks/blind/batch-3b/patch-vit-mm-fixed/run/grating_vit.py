# grating_vit.py
model = dict(
    type='ImageClassifier',
    backbone=dict(type='PatchTransformer', depth=8, embed_dims=32, num_heads=4, norm_order='post'),
    head=dict(type='LinearClsHead', num_classes=8))
train_dataloader = dict(batch_size=50, num_workers=2)
optim_wrapper = dict(
    optimizer=dict(type='AdamW', lr=6e-3, weight_decay=0.05))
param_scheduler = [
    dict(type='LinearLR', start_factor=0.002, by_epoch=False, begin=0, end=200),
    dict(type='CosineAnnealingLR', by_epoch=False, begin=200, T_max=520),
]
train_cfg = dict(by_epoch=True, max_epochs=12)
randomness = dict(seed=3)
