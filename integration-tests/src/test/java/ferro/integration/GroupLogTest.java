package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.spi.Listeners;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class GroupLogTest {
    private final List<String> lines = new ArrayList<>();

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            String thrown = line.getThrown() == null ? "" : line.getThrown().getMessage() + " ";
            lines.add(line.getLevel() + " " + (thrown.isEmpty() ? line.getMessage() + " " : thrown) + "by "
                    + line.getSourceClassName() + " " + line.getSourceMethodName());
        }

        @Override
        public void flush() {
            // nothing is kept back
        }

        @Override
        public void close() {
            // nothing is open
        }
    };

    private static GroupEvent event(Kind kind, String text) {
        return GroupEvent.of(kind, "pair", 0, List.of(1), text);
    }

    @Test
    void eachLineHasItsLevelAndTheNameOfTheLoggerAsItsSource() {
        Listeners logging = new Listeners("pair", Runnable::run, true);
        Logger logger = Logger.getLogger("ferro.group");
        logger.addHandler(handler);
        try {
            logging.tell(event(Kind.LATE, "late"));
            logging.tell(event(Kind.SUSPECTED, "told to each group"));
            logging.log(event(Kind.SUSPECTED, "silent"));
            logging.log(event(Kind.RECOVERED, "heard"));
            logging.tell(event(Kind.FAILED, "failed"));
            logging.log(event(Kind.SUSPECTED, "too late"));
            Listeners silent = new Listeners("stepped", Runnable::run, false);
            silent.log(event(Kind.SUSPECTED, "of a simulation"));
            silent.add(event -> {
                throw new IllegalStateException(event.text());
            });
            silent.tell(event(Kind.SUSPECTED, "thrown"));
        } finally {
            logger.removeHandler(handler);
        }

        String by = " by ferro.group null";
        assertEquals(
                List.of("WARNING late" + by, "WARNING silent" + by, "INFO heard" + by, "WARNING thrown" + by), lines);
    }
}
