package ferro.spi;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger.Level;
import java.text.MessageFormat;
import java.util.ResourceBundle;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Log lines for people who start ranks by hand. Usually {@code java.util.logging} prints the class and the method that
 * log, which are internal to ferro. For a line of this class, {@code java.util.logging} prints the name of the logger,
 * such as {@code ferro.group}.
 */
public final class PlainLoggers {
    private PlainLoggers() {}

    /**
     * A holder of the logging library, initialised by the first line that is logged, because the search for the library
     * takes time.
     */
    private static final class LibraryHolder {
        static final boolean IS_OF_JDK = System.LoggerFinder.getLoggerFinder()
                .getClass()
                .getName()
                .equals("sun.util.logging.internal.LoggingProviderImpl");

        private LibraryHolder() {}
    }

    /**
     * Writes a line to the log.
     *
     * @param logger name of the logger, such as {@code ferro.group}
     * @param level  level of the line
     * @param text   text, in which braces have no meaning
     */
    public static void write(String logger, Level level, String text) {
        logger(requireNonNull(logger, "logger")).log(level, requireNonNull(text, "text"));
    }

    /**
     * Returns a logger whose lines have the name of the logger as their source. Braces in a text have a meaning only if
     * the call also passes values.
     *
     * @param name name of the logger, such as {@code ferro.group}
     * @return logger
     */
    public static System.Logger logger(String name) {
        requireNonNull(name, "name");
        return new System.Logger() {
            @Override
            public String getName() {
                return name;
            }

            @Override
            public boolean isLoggable(Level level) {
                return System.getLogger(name).isLoggable(requireNonNull(level, "level"));
            }

            @Override
            public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
                if (!isLoggable(level)) {
                    return;
                }
                if (LibraryHolder.IS_OF_JDK) {
                    JdkLogWriter.write(name, level, text, thrown);
                } else {
                    System.getLogger(name).log(level, text, thrown);
                }
            }

            @Override
            public void log(Level level, ResourceBundle bundle, String text, Object... values) {
                boolean isPlain = values == null || values.length == 0 || !isLoggable(level);
                log(level, bundle, isPlain ? text : MessageFormat.format(text, values), (Throwable) null);
            }
        };
    }

    /** The calls of java.util.logging. An image of the JDK may lack the module of java.util.logging. */
    private static final class JdkLogWriter {
        private JdkLogWriter() {}

        static void write(String logger, Level level, String text, Throwable thrown) {
            LogRecord line = new LogRecord(levelOf(level), text);
            line.setLoggerName(logger);
            line.setThrown(thrown);
            line.setSourceClassName(logger);
            line.setSourceMethodName(null);
            Logger.getLogger(logger).log(line);
        }

        private static java.util.logging.Level levelOf(Level level) {
            return switch (level) {
                case ALL -> java.util.logging.Level.ALL;
                case TRACE -> java.util.logging.Level.FINER;
                case DEBUG -> java.util.logging.Level.FINE;
                case INFO -> java.util.logging.Level.INFO;
                case WARNING -> java.util.logging.Level.WARNING;
                case ERROR -> java.util.logging.Level.SEVERE;
                case OFF -> java.util.logging.Level.OFF;
            };
        }
    }
}
