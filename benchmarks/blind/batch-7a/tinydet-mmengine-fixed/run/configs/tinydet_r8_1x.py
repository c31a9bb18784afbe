model = dict(type='TinyDet', backbone=dict(type='TinyResNet', depth=8), num_classes=5)
train_dataloader = dict(batch_size=32, num_workers=2)
train_cfg = dict(type='EpochBasedTrainLoop', max_epochs=12, val_interval=1)
optim_wrapper = dict(
    type='OptimWrapper',
    optimizer=dict(type='SGD', lr=0.003, momentum=0.9, weight_decay=0.0001),
    clip_grad=dict(max_norm=35, norm_type=2))
default_hooks = dict(logger=dict(type='LoggerHook', interval=10))
