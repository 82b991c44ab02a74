#include <algorithm>
#include <cstdio>
#include <iostream>
#include <queue>
#include <vector>
#define LIMIT 64

using namespace std;

// Shortest ways on a small grid, and the components of what is open.
struct Point {
    int row, column;
    int distance;
    bool operator<(const Point &other) const { return distance < other.distance; }
    int sum() const { return row + column; }
};

int grid[LIMIT][LIMIT];
int steps[LIMIT][LIMIT];
int rows, columns;

bool inside(int row, int column) {
    return row >= 0 && column >= 0 && row < rows && column < columns;
}

void clear(int value) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) steps[i][j] = value;
}

int spread(int row, int column, int mark) {
    queue<Point> waiting;
    Point start = {row, column, 0};
    waiting.push(start);
    steps[row][column] = mark;
    int reached = 1;
    int dr[4] = {0, 1, 0, -1};
    int dc[4] = {1, 0, -1, 0};
    while (!waiting.empty()) {
        Point here = waiting.front();
        waiting.pop();
        for (int way = 0; way < 4; way++) {
            int r = here.row + dr[way], c = here.column + dc[way];
            if (!inside(r, c)) continue;
            if (grid[r][c] == 0 && steps[r][c] < 0) {
                steps[r][c] = mark;
                reached++;
                Point next = {r, c, here.distance + 1};
                waiting.push(next);
            }
        }
    }
    return reached;
}

long long weight(vector<int> &sizes, int least) {
    long long total = 0;
    int big = 0;
    int small = 0;
    for (size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] >= least) {
            big++;
            total += (long long)sizes[i] * sizes[i];
        } else {
            small++;
        }
    }
    printf("%d big, %d small\n", big, small);
    return total;
}

int main() {
    int n;
    int m;
    cin >> n >> m;
    rows = min(n, LIMIT);
    columns = min(m, LIMIT);
    int closed = 0;
    int open = 0;
    double share = 0.5;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            int value;
            cin >> value;
            grid[i][j] = value % 2;
            if (grid[i][j]) closed++;
            else open++;
        }
    }
    clear(-1);
    vector<int> sizes;
    int mark = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            if (grid[i][j] == 0 && steps[i][j] < 0) {
                int size = spread(i, j, mark);
                sizes.push_back(size);
                mark++;
            }
        }
    }
    sort(sizes.begin(), sizes.end());
    long long total = weight(sizes, 2);
    share = open + closed ? (double)open / (open + closed) : share;
    cout << sizes.size() << " parts, weight " << total << endl;
    printf("%.3f open\n", share);
    int at = (int)sizes.size() - 1;
    while (at >= 0) {
        cout << sizes[at] << " ";
        at--;
    }
    cout << endl;
    return 0;
}
