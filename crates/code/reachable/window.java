import java.awt.event.*;
import javax.swing.*;
import org.junit.Test;

public class Window extends JFrame implements ActionListener {
    private final JButton button = new JButton("press");

    public Window() {
        super("window");
        button.addActionListener(this);
        button.addMouseListener(new Listener());
        add(button);
        setSize(200, 100);
        setVisible(true);
    }

    public void actionPerformed(ActionEvent event) { count(1); }

    void count(int n) { System.out.println(n); }

    private void unused() { count(2); } // dead

    static void unusedToo() { } // dead

    public static void main(String[] args) { new Window(); }
}

class Listener extends Base {
    public void mousePressed(MouseEvent event) { }
}

class Base extends MouseAdapter { }

class WindowTest {
    @Test
    public void opens() { checked(new Window()); }

    void checked(Window window) { }
}
