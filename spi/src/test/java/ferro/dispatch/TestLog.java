package ferro.dispatch;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;

/** A logger that keeps its lines. */
final class TestLog implements System.Logger {
    private final List<String> lines = new ArrayList<>();

    List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public String getName() {
        return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
        return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String msg, Throwable thrown) {
        lines.add(level + " " + msg);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... params) {
        lines.add(level + " " + format);
    }
}
