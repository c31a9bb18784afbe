#!/bin/bash
#SBATCH --job-name=pcb_ae
#SBATCH --ntasks=2
#SBATCH --time=02:00:00
srun --label python /proj/pcb/train_ae.py --arch conv_ae_s --optimizer nesterov --lr 0.2 --momentum 0.9 --clip-norm 5.0 --batch-size 32 --max-update 900 --log-interval 10
