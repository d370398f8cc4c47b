package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.harness.HeardLog;
import ferro.spi.Listeners;
import java.util.List;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class GroupLogTest {
    @AutoClose
    final HeardLog heard = new HeardLog("ferro.group", line -> true);

    private static String text(LogRecord line) {
        String text =
                line.getThrown() == null ? line.getMessage() : line.getThrown().getMessage();
        return line.getLevel() + " " + text + " by " + line.getSourceClassName() + " " + line.getSourceMethodName();
    }

    private static GroupEvent event(Kind kind, String text) {
        return GroupEvent.of(kind, "pair", 0, List.of(1), text);
    }

    @Test
    void eachLogLineHasItsLevelAndLoggerName() {
        Listeners logging = new Listeners("pair", Runnable::run, true);
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

        String by = " by ferro.group null";
        assertEquals(
                List.of("WARNING late" + by, "WARNING silent" + by, "INFO heard" + by, "WARNING thrown" + by),
                heard.records().stream().map(GroupLogTest::text).toList());
    }
}
