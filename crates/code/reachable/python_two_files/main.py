import helper as h
from shapes import square as sq

total = 0
for number in range(10):
    total += h.twice(number)
    if total > 100 and number % 2 == 0:
        print("large", total, number, number + 1)
    elif total < 10 or number == 3:
        print("small", total, number, number - 1)
print(sq(total), [number * number for number in range(total)])
