python main.py --lr 0.3 --epochs 6 > lauf3.txt
