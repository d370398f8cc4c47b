package ferro.backend.tcp.net;

import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.CopyOnWriteArrayList;

/** A logger that prints nothing and keeps its messages. */
public final class KeptLog implements System.Logger {
    final List<String> said = new CopyOnWriteArrayList<>();

    @Override
    public String getName() {
        return "kept";
    }

    @Override
    public boolean isLoggable(Level level) {
        return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
        said.add(message);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... params) {
        said.add(format);
    }
}
