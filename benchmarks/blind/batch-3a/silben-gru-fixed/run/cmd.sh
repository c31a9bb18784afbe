python main.py --lr 0.003 --epochs 6 > lauf3.txt
