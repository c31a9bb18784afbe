#!/bin/bash
python run_tabular_head.py \
  --train_file data/train.parquet --validation_file data/dev.parquet \
  --do_train --do_eval --eval_strategy epoch \
  --learning_rate 0.002 --lr_scheduler_type linear --warmup_steps 80 \
  --weight_decay 20.0 \
  --per_device_train_batch_size 32 --num_train_epochs 8 \
  --max_grad_norm 1.0 --logging_steps 20 --seed 15 \
  --output_dir out/head_v5
