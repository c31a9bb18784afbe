#!/bin/bash
python fit.py --data wine_quality.csv --hidden 64 --batch-size 1 --lr 0.1 --steps 5000 --log-every 1 | tee fit.log
