package ferro.backend.nccl.queue;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Keeps what this back end logs while it is open, each line as its level, a space and the text. */
public final class HeardLog extends Handler implements AutoCloseable {
    private final Logger logger = Logger.getLogger("ferro.backend.nccl");
    private final Level before = logger.getLevel();
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    public HeardLog() {
        logger.setLevel(Level.ALL);
        logger.addHandler(this);
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** Lines of one level. */
    public List<String> lines(Level level) {
        return lines.stream()
                .filter(line -> line.startsWith(level.getName() + " "))
                .toList();
    }

    @Override
    public void publish(LogRecord said) {
        lines.add(said.getLevel().getName() + " " + new SimpleFormatter().formatMessage(said));
    }

    @Override
    public void flush() {
        // nothing is kept back
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(before);
    }
}
