package ferro.harness;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Keeps what a logger logs until it is closed. */
public final class HeardLog extends Handler implements AutoCloseable {
    private final Logger logger;
    private final Level before;
    private final Predicate<LogRecord> wanted;
    private final Queue<LogRecord> records = new ConcurrentLinkedQueue<>();

    /** Keeps all, of every level. */
    public HeardLog(String logger) {
        this(logger, record -> true);
        this.logger.setLevel(Level.ALL);
    }

    /** Keeps some of what the logger logs anyway. */
    public HeardLog(String logger, Predicate<LogRecord> wanted) {
        this.logger = Logger.getLogger(logger);
        this.before = this.logger.getLevel();
        this.wanted = wanted;
        this.logger.addHandler(this);
    }

    public static Predicate<LogRecord> only(Level level) {
        return record -> record.getLevel().equals(level);
    }

    public List<LogRecord> records() {
        return List.copyOf(records);
    }

    public List<String> texts() {
        return records.stream().map(LogRecord::getMessage).toList();
    }

    /** Each line as its level, a space and the text. */
    public List<String> lines() {
        return records.stream()
                .map(said -> said.getLevel().getName() + " " + new SimpleFormatter().formatMessage(said))
                .toList();
    }

    @Override
    public void publish(LogRecord record) {
        if (wanted.test(record)) {
            records.add(record);
        }
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
