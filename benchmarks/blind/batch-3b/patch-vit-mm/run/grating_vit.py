# grating_vit.py
model = dict(
    type='ImageClassifier',
    backbone=dict(type='PatchTransformer', depth=8, embed_dims=32, num_heads=4, norm_order='post'),
    head=dict(type='LinearClsHead', num_classes=8))
train_dataloader = dict(batch_size=50, num_workers=2)
optim_wrapper = dict(
    optimizer=dict(type='AdamW', lr=6e-3, weight_decay=0.05))
param_scheduler = [
    dict(type='CosineAnnealingLR', by_epoch=False, begin=0, T_max=720),
]
train_cfg = dict(by_epoch=True, max_epochs=12)
randomness = dict(seed=3)
