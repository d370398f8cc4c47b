package ferro.backend.tcp.net;

import java.util.ResourceBundle;

/** A logger that says nothing. */
public final class Quiet implements System.Logger {
    @Override
    public String getName() {
        return "quiet";
    }

    @Override
    public boolean isLoggable(Level level) {
        return false;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
        // quiet
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... params) {
        // quiet
    }
}
