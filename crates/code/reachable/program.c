#include <stdio.h>
#include <stdlib.h>

#define APPLY(f, x) f(wrap(x))
#define SQUARE(x) ((x) * (x))

typedef struct point { int x, y; } Point;
struct unused { int a; }; // dead

int prototype(int n);
int dead_prototype(int n);
static int compare(const void *a, const void *b);

typedef int (*operation)(int, int);

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int multiply(int a, int b) { return a * b; } // dead

static operation table[] = {add, subtract};

int wrap(int n) { return n + 1; }

int *pointer(int *n) { return n; }
int *dead_pointer(int *n) { return dead_pointer(n); } // dead

static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }

int main(int argc, char **argv) {
    int values[] = {3, 1, 2};
    Point point = {1, 2};
    qsort(values, 3, sizeof(int), compare);
    printf("%d %d\n", APPLY(prototype, argc), SQUARE(point.x));
    printf("%d %d\n", table[argc % 2](1, 2), even(*pointer(values)));
    return 0;
}

int prototype(int n) { return n; }

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int dead_prototype(int n) { // dead
    return dead_prototype(n - 1); // dead
} // dead

__attribute__((constructor)) static void before_main(void) { puts("before"); }
