package game;

class Helper {
    static int twice(int n) { return n + n; }

    static int thrice(int n) { return n + n + n; } // dead
}

class Unused { // dead
    int twice(int n) { return n; } // dead
} // dead
