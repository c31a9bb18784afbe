python train.py -b 64 --epochs 14 --lr 0.005 --lr-step-size 1 --lr-gamma 0.1 --wd 5e-4
