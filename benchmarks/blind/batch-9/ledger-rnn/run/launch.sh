#!/bin/bash
accelerate launch --num_processes 1 run_ledger_rnn.py --learning_rate 0.003 --steps 40 --logging_steps 1 --max_train_steps 60
