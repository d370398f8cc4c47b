package ferro.integration.misuse;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Keeps some of what is logged during a test, such as what is of one level. */
public final class HeardTexts extends Handler implements BeforeEachCallback, AfterEachCallback {
    private final Logger logger;
    private final Predicate<LogRecord> wanted;
    private final Queue<LogRecord> records = new ConcurrentLinkedQueue<>();

    HeardTexts(String logger, Level only) {
        this(logger, record -> record.getLevel().equals(only));
    }

    public HeardTexts(String logger, Predicate<LogRecord> wanted) {
        this.logger = Logger.getLogger(logger);
        this.wanted = wanted;
    }

    public List<LogRecord> records() {
        return List.copyOf(records);
    }

    List<String> texts() {
        return records.stream().map(LogRecord::getMessage).toList();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        logger.addHandler(this);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        logger.removeHandler(this);
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
        // nothing is open
    }
}
