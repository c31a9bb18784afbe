#!/bin/bash
# cluster: 1 node x 1 gpu, smoke-size model
python pretrain_gpt.py \
    --num-layers 2 --hidden-size 48 --num-attention-heads 4 \
    --seq-length 32 --max-position-embeddings 32 \
    --micro-batch-size 16 --global-batch-size 16 \
    --train-iters 1500 \
    --lr 1.0e-3 --min-lr 0.0 \
    --lr-decay-style cosine --lr-decay-iters 1500 --lr-warmup-iters 30 \
    --weight-decay 0.1 --adam-beta2 0.95 --clip-grad 1.0 \
    --log-interval 10 --eval-interval 250 --eval-iters 10 \
    --data-path data/corpus_text_document --split 98,2,0
