#!/bin/bash
set -e
python forecast.py --lr 0.005 --epochs 18 --bs 50 2>&1 | tee tide.log
