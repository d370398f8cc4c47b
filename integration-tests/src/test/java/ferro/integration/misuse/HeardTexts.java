package ferro.integration.misuse;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** Keeps what is logged at one level, and nothing else. */
final class HeardTexts extends Handler {
    private final Level only;
    private final Queue<String> texts = new ConcurrentLinkedQueue<>();

    HeardTexts(Level only) {
        this.only = only;
    }

    List<String> texts() {
        return List.copyOf(texts);
    }

    @Override
    public void publish(LogRecord record) {
        if (record.getLevel().equals(only)) {
            texts.add(record.getMessage());
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
