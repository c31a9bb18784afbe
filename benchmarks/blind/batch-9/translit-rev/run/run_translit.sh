#!/usr/bin/env bash
set -e
fairseq-train data-bin/translit.rev \
  --arch transformer_tiny_postln --encoder-layers 3 --decoder-layers 3 \
  --encoder-embed-dim 48 --decoder-embed-dim 48 \
  --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 0.0 \
  --lr 0.01 --lr-scheduler inverse_sqrt --warmup-updates 0 \
  --criterion cross_entropy --dropout 0.0 \
  --batch-size 48 --max-update 600 --log-interval 50 --seed 3 \
  --save-dir ckpt/translit 2>&1 | tee train.log
