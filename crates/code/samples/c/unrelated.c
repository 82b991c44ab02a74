/* Shortest way through a maze, with a queue made by hand. */
#include <stdbool.h>
#include <stdio.h>
#include <assert.h>

enum { ROWS = 6, COLS = 9 };

struct cell { short row, col; };

union word {
    unsigned long bits;
    unsigned char bytes[sizeof(unsigned long)];
};

static const char *maze[ROWS] = {
    "S.#......", "..#.####.", ".##.#..#.", "....#.##.", ".####....", "......#.E"
};

static struct cell queue[ROWS * COLS];
static unsigned head, tail;

static bool inside(struct cell at) {
    return at.row >= 0 && at.row < ROWS && at.col >= 0 && at.col < COLS;
}

static void push(short row, short col) {
    assert(tail < sizeof queue / sizeof *queue);
    queue[tail++] = (struct cell){ row, col };
}

static unsigned checksum(const char *text) {
    unsigned hash = 5381u;
    do {
        hash = hash << 5 ^ hash >> 27 ^ (unsigned)*text;
    } while (*text++);
    return hash & 0xffffu;
}

static int search(int distance[ROWS][COLS]) {
    static const signed char steps[4][2] = { {0, 1}, {1, 0}, {0, -1}, {-1, 0} };
    push(0, 0);
    while (head != tail) {
        struct cell here = queue[head++];
        switch (maze[here.row][here.col]) {
        case 'E':
            return distance[here.row][here.col];
        case '#':
            continue;
        default:
            break;
        }
        for (unsigned k = 4; k--;) {
            struct cell next = { here.row + steps[k][0], here.col + steps[k][1] };
            if (!inside(next) || distance[next.row][next.col]) goto skip;
            distance[next.row][next.col] = distance[here.row][here.col] + 1;
            push(next.row, next.col);
        skip:;
        }
    }
    return ~0;
}

int main(void) {
    int distance[ROWS][COLS] = {{0}};
    union word probe = { .bits = 1ul };
    printf("%d steps, %s, %04x\n", search(distance), probe.bytes[0] ? "little" : "big", checksum(maze[0]));
}
