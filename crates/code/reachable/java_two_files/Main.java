package game;

import static game.Helper.*;

public class Main {
    public static void main(String[] args) {
        int total = 0;
        for (int i = 0; i < args.length; i++) {
            total += twice(i);
            total -= i % 2 == 0 ? 1 : -1;
        }
        String[] words = {"a", "b", "c", "d", "e"};
        for (String word : words) {
            System.out.println(word + total + word.length() * 2);
        }
    }
}
