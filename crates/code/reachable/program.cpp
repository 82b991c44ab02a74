#include <algorithm>
#include <iostream>
#include <map>
#include <vector>
using namespace std;

namespace tools {
int twice(int n) { return n * 2; }
int thrice(int n) { return n * 3; } // dead
}

class Forward;

template <class T> T biggest(T a, T b) { return a < b ? b : a; }
template <class T> T smallest(T a, T b) { return a < b ? a : b; } // dead

struct Shape {
    virtual ~Shape() { closed(); }
    virtual double area() const = 0;
    void closed() {}
    void unused() {} // dead
};

struct Square : Shape {
    double side;
    explicit Square(double side) : side(checked(side)) {}
    double area() const override { return side * side; }
    static double checked(double side) { return side; }
    double perimeter() const { return 4 * side; } // dead
};

class Point {
    int x, y;
public:
    Point(int x, int y);
    ~Point();
    Point operator+(const Point &other) const;
    bool operator<(const Point &other) const { return order(other); }
    bool order(const Point &other) const { return x < other.x; }
    int norm() const;
    int dead_norm() const;
};

Point::Point(int x, int y) : x(x), y(y) {}
Point::~Point() {}
Point Point::operator+(const Point &other) const { return Point(x + other.x, y + other.y); }
int Point::norm() const { return x * x + y * y; }
int Point::dead_norm() const { return x + y; } // dead

struct SegmentTree { // dead
    vector<int> sums; // dead
    SegmentTree(int n) : sums(n) { build(n); } // dead
    void build(int n); // dead
}; // dead
void SegmentTree::build(int n) { sums[0] = n; } // dead

struct Config { Config() { ready(); } void ready() {} } config;

struct Guard {
    Guard(int n) {}
    ~Guard() { cout << released(); }
    int released() { return 1; }
};

struct Bag {
    vector<int> items;
    vector<int>::iterator begin() { return items.begin(); }
    vector<int>::iterator end() { return items.end(); }
};

struct Hash { size_t operator()(const Point &p) const { return p.norm(); } };

template <> struct std::hash<Point> { size_t operator()(const Point &p) const { return 1; } };

bool by_size(int a, int b) { return a < b; }

int main() {
    int limit = 3;
    Guard guard(limit);
    vector<int> values = {3, 1, 2};
    sort(values.begin(), values.end(), by_size);
    Shape *shape = new Square(2);
    cout << shape->area() << tools::twice(4) << biggest(1, 2) << endl;
    auto add = [](int n) { return in_lambda(n); };
    for (int each : Bag()) cout << each << add(each);
    map<Point, int> places;
    places[Point(1, 2)] = Hash()(Point(3, 4));
    delete shape;
}

int in_lambda(int n) { return n; }
