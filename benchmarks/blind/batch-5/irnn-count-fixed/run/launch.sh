#!/bin/bash
python count.py --T 100 --hidden 24 --lr 0.003 --iters 400 --max-norm 0.2 2>&1 | tee count.out
